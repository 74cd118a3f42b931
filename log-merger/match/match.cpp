// Which receive took which send. The definition that this file implements:
//
//   Among the sends to one worker with one 64-bit tag, in the order in which they were posted, and
//   the receives of that worker that reported this sender tag, in the order in which they were
//   posted (a matched receive: probed), the k-th receive took the k-th send.
//
// It is the only pairing that the ordering rules of tag matching allow as long as one endpoint and
// one posting thread use the key on each side between two quiescent points (all that was sent so
// far had been received before the next send began), and as long as no operation between them is
// missing; otherwise the pairs are `ambiguous`. If the user did not want all events recorded,
// match_parts.cpp chooses which sends and receives are counted against each other. Quiescent points
// matter because MPI libraries reuse the context of a freed communicator, and with it the tag, for
// other ranks. Receives that were cancelled or failed took nothing.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/job/log_damage.hpp"
#include "log-merger/match/am_contents.hpp"
#include "log-merger/match/match_parts.hpp"
#include "log-merger/match/message_groups.hpp"
#include "log-merger/match/pairing.hpp"

namespace uctrace::merge {

namespace {

UcpOp& at(Job& job, UcpIndex index) { return job.ucp[index]; }

// Whether missing events, if any, are later than all existing ones: the log is still being written,
// or its process was killed.
bool ends_early(const ProcessLog& log) {
  return log.file.page().closed == 0 && log.file.dropped_records() == 0 &&
         unreadable_parts(log) == 0;
}

// More receives than sends: sends are missing. They are later than the known ones if their
// process's log ends early and the tag identifies one source, as MPI's does; otherwise they may be
// in between.
bool sends_may_lack(const Job& job, const Group& group) {
  if (group.receives.size() <= group.sends.size()) {
    return false;
  }
  const ProcessLog& log = job.logs[group.sends.front().process];
  return log.flavour == MpiFlavour::none || !ends_early(log);
}

// Logs whose operations may have gaps anywhere: records were dropped, or parts cannot be read.
// Without the definition of its endpoint or worker an operation is in no group.
class Losses {
 public:
  explicit Losses(const Job& job) {
    for (const ProcessLog& log : job.logs) {
      may_lack_.push_back(may_lack_any(log));
      in_any_ = in_any_ || may_lack_.back();
    }
  }

  bool in_log_of(const HalfMessage& half) const { return may_lack_[half.process]; }
  bool in_any_log() const { return in_any_; }

 private:
  static bool may_lack_any(const ProcessLog& log) {
    std::uint64_t lost = unreadable_parts(log);
    lost += log.dropped(log::DropKind::ucp) + log.dropped(log::DropKind::definition);
    return lost != 0;
  }

  ByIndex<ProcessLog, bool> may_lack_;
  bool in_any_ = false;
};

// Whether the k-th known receive may not have taken the k-th known send, because either may not
// really be the k-th. If no send can be missing, and known receives took all sends, there is no
// shift.
bool may_be_shifted(const Job& job, const Losses& losses, const Group& group, bool all_taken) {
  if (!losses.in_any_log()) return false;
  const HalfMessage& sender = group.sends.front();
  // MPI tags identify the source, unless the context of a freed communicator was reused.
  const bool one_source =
      job.logs[sender.process].flavour != MpiFlavour::none &&
      std::all_of(group.sends.begin(), group.sends.end(),
                  [&](const HalfMessage& send) { return send.process == sender.process; });
  const bool sends_lack = !one_source || losses.in_log_of(sender);
  return sends_lack || (!all_taken && losses.in_log_of(group.receives.front()));
}

// The fragments of an active message, which could have distinguished it, may have been dropped.
bool may_lack_content(const Job& job, const HalfMessage& send, const HalfMessage& receive) {
  const auto lost = [&](const HalfMessage& half) {
    const log::LaneCounters& counted = job.logs[half.process].totals;
    return counted.dropped[static_cast<std::size_t>(log::DropKind::uct)] != 0;
  };
  return lost(send) || lost(receive);
}

// Whether each pair, by its place, is the only one possible.
std::vector<bool> sure_pairs(const Job& job, const Group& group, std::size_t pairs) {
  const bool one_of_each = group.sends.size() == 1 && group.receives.size() == 1;
  if (!one_of_each && sends_may_lack(job, group)) return std::vector<bool>(pairs, false);
  // Times of clocks related only by wall clocks cannot be compared well enough.
  const auto margin = [&job](ProcessIndex a, std::int64_t a_ns, ProcessIndex b, std::int64_t b_ns) {
    return clock_margin_ns(job, a, a_ns, b, b_ns);
  };
  return only_possible_pairs(group.sends, group.receives, margin);
}

// Posting order: by ticks within a process, and approximately by the job clock between processes.
// The latter case is ambiguous anyway.
void put_in_order(Group& group) {
  std::sort(group.sends.begin(), group.sends.end(), [](const HalfMessage& a, const HalfMessage& b) {
    return std::pair(a.start_ns, a.op) < std::pair(b.start_ns, b.op);
  });
  std::sort(group.receives.begin(), group.receives.end(),
            [](const HalfMessage& a, const HalfMessage& b) {
              return std::pair(a.posted_tick, a.op) < std::pair(b.posted_tick, b.op);
            });
}

// Stable: the last outcome of an operation stays last.
void sort_by_operation(std::vector<Outcome>& outcomes) {
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [](const Outcome& a, const Outcome& b) { return a.op < b.op; });
}

// Matches the groups of a part of the job's messages; parts are processed in parallel.
class alignas(64) PartOfMatching {  // threads add to several in parallel
 public:
  PartOfMatching(const Job& job, const HalfMessages& halves, const Losses& losses)
      : job_(job), halves_(halves), losses_(losses) {}

  // Pairs that are ambiguous because records are missing.
  std::uint64_t doubtful_by_loss() const { return doubtful_by_loss_; }
  // What was found, by operation.
  const std::vector<Outcome>& outcomes() const { return outcomes_; }

  void match_whole_run(std::size_t part) {
    for (auto& [key, group] : halves_.groups_of(part)) {
      for (Group& same : apart(key, group, true)) match_whole(key, same);
    }
    sort_by_operation(outcomes_);
  }

  // For a run with events missing by the user's choice.
  void match_in_parts(std::size_t part, const std::vector<WholePart>& of_tags,
                      const std::vector<WholePart>& of_active_messages) {
    MessageGroups groups = halves_.groups_of(part);
    add_outside_receives(part, groups);
    for (auto& [key, group] : groups) {
      const bool is_tag = key.sent_by == log::UcpFamily::tag_send;
      for (Group& same : apart(key, group, false)) {
        match_in_parts(key, same, is_tag ? of_tags : of_active_messages);
      }
    }
    sort_by_operation(outcomes_);
  }

 private:
  // Tags order all that has the same one.
  static std::vector<Group> apart(const MessageKey& key, Group& group, bool all_recorded) {
    if (key.sent_by != log::UcpFamily::tag_send) return AmContents::apart(group, all_recorded);
    std::vector<Group> groups;
    groups.push_back(std::move(group));
    return groups;
  }

  // A receive whose operation is not recorded may belong to any worker of its process.
  void add_outside_receives(std::size_t part, MessageGroups& groups) const {
    for (const OutsideReceive& receive : job_.outside_receives) {
      for (const Worker& worker : job_.logs[receive.process].workers) {
        const MessageKey key{worker.uid, receive.sender_tag};
        if (HalfMessages::part_of(key) != part) continue;
        const auto group = groups.find(key);
        if (group != groups.end()) group->second.outside.push_back(&receive);
      }
    }
  }

  std::uint64_t first_doubtful_tick(const MessageKey& key) const {
    const UnknownReceives* const unknown = halves_.unknown_of(key.worker_uid);
    return unknown != nullptr ? unknown->first_doubtful_tick(key) : UINT64_MAX;
  }

  void match_whole(const MessageKey& key, Group& group) {
    put_in_order(group);
    // With as many receives as sends, every send has its receive.
    const std::uint64_t doubtful =
        group.sends.size() > group.receives.size() ? first_doubtful_tick(key) : UINT64_MAX;
    match_group(key, group, doubtful, Match::exact, group.sends.size() == group.receives.size());
  }

  void match_in_parts(const MessageKey& key, Group& group, const std::vector<WholePart>& whole) {
    put_in_order(group);
    for (Pairs& pairs : lay_side_by_side(job_, group, whole, outcomes_)) {
      const std::uint64_t doubtful =
          pairs.may_lack_receives ? first_doubtful_tick(key) : UINT64_MAX;
      match_group(key, {std::move(pairs.sends), std::move(pairs.receives), {}}, doubtful,
                  pairs.match,
                  false);  // some may have been on their way when the part began
    }
  }

  // Pairs the first sends with the first receives. `certain`: the match of a pair that is the only
  // possible one. `doubtful`: the place of a receive from which on no pair is certain. `all_taken`:
  // as many sends as receives.
  void match_group(const MessageKey& key, const Group& group, std::uint64_t doubtful, Match certain,
                   bool all_taken) {
    const std::size_t pairs = std::min(group.sends.size(), group.receives.size());
    if (pairs == 0) return;
    const bool shifted = may_be_shifted(job_, losses_, group, all_taken);
    const bool is_active_message = key.sent_by == log::UcpFamily::am_send;
    const std::vector<bool> only_pair =
        shifted ? std::vector<bool>(pairs, false) : sure_pairs(job_, group, pairs);
    for (std::size_t k = 0; k < pairs; ++k) {
      const HalfMessage& send = group.sends[k];
      const HalfMessage& receive = group.receives[k];
      const bool sure =
          only_pair[k] && receive.posted_tick < doubtful && lengths_agree(send, receive);
      doubtful_by_loss_ +=
          shifted || (!sure && is_active_message && may_lack_content(job_, send, receive));
      const Match match = sure ? certain : Match::ambiguous;
      outcomes_.push_back({send.op, match, receive.op});
      outcomes_.push_back({receive.op, match, send.op, send.process});
    }
  }

  const Job& job_;
  const HalfMessages& halves_;
  const Losses& losses_;
  std::vector<Outcome> outcomes_;
  std::uint64_t doubtful_by_loss_ = 0;
};

// Writes to the operations of each process once, in memory order.
void take_over(const std::vector<PartOfMatching>& parts, Job& job) {
  const auto take = [&](std::size_t begin, std::size_t end) {
    const auto is_before = [](const Outcome& outcome, std::size_t op) {
      return outcome.op.place() < op;
    };
    std::vector<Outcome> outcomes;
    for (const PartOfMatching& part : parts) {
      const std::vector<Outcome>& all = part.outcomes();
      const auto first = std::lower_bound(all.begin(), all.end(), begin, is_before);
      outcomes.insert(outcomes.end(), first, std::lower_bound(first, all.end(), end, is_before));
    }
    sort_by_operation(outcomes);
    for (const Outcome& outcome : outcomes) {
      UcpOp& op = at(job, outcome.op);
      op.match = outcome.match;
      if (outcome.partner == kNone) continue;
      op.partner = outcome.partner;
      if (outcome.peer_process != kNone) op.peer_process = outcome.peer_process;
    }
  };
  each_process_of(job, job.ucp.size(), &ProcessLog::ucp_rows, take);
}

void match_groups(Job& job) {
  const HalfMessages halves(job, AmContents(job));
  const Losses losses(job);
  std::vector<PartOfMatching> parts(HalfMessages::kParts, PartOfMatching(job, halves, losses));
  if (job.partly_recorded()) {
    const std::vector<WholePart> of_tags = whole_parts(job, log::UcpFamily::tag_send);
    const std::vector<WholePart> of_ams = whole_parts(job, log::UcpFamily::am_send);
    job.workers.each(parts.size(),
                     [&](std::size_t part) { parts[part].match_in_parts(part, of_tags, of_ams); });
  } else {
    job.workers.each(parts.size(), [&](std::size_t part) { parts[part].match_whole_run(part); });
  }
  take_over(parts, job);
  for (const PartOfMatching& part : parts) {
    job.findings.doubtful_by_loss += part.doubtful_by_loss();
  }
}

// A handler's call that announced data, and the data's address.
struct ToldOfData {
  std::pair<ProcessIndex, std::uint64_t> data;  // process and address
  std::uint64_t start_tick;
  UcpIndex call;
  bool operator<(const ToldOfData& other) const {
    return std::tie(data, start_tick) < std::tie(other.data, other.start_tick);
  }
};

void link_to_handler(UcpOp& op, UcpIndex call, UcpOp& handler) {
  op.data_of = call;
  if (!op.accepted()) return;
  handler.end_ns = op.end_ns;
  handler.end_from = op.end_from;
  handler.end_status = op.end_status;
}

// For the rows of one or more processes.
std::vector<ToldOfData> told_of_data(const Job& job, const Indexes<UcpOp>& rows) {
  std::vector<ToldOfData> told;
  for (const UcpIndex i : rows) {
    const UcpOp& op = job.ucp[i];
    if (!op.is(log::UcpFamily::am_receive)) continue;
    told.push_back({{op.process, op.data}, op.start_tick, i});
  }
  std::stable_sort(told.begin(), told.end());
  return told;
}

// Data that a handler was only told about: the newest handler call with this data address.
void link_data_receives(Job& job) {
  const auto link = [&](std::size_t begin, std::size_t end) {
    const Indexes<UcpOp> rows(begin, end);
    const std::vector<ToldOfData> told = told_of_data(job, rows);
    for (const UcpIndex i : rows) {
      UcpOp& op = job.ucp[i];
      if (!op.is(log::UcpFamily::am_receive_data)) continue;
      const ToldOfData here{{op.process, op.data}, op.start_tick, kNone};
      const auto after = std::upper_bound(told.begin(), told.end(), here);
      if (after == told.begin() || (after - 1)->data != here.data) continue;
      link_to_handler(op, (after - 1)->call, at(job, (after - 1)->call));
    }
  };
  each_process_of(job, job.ucp.size(), &ProcessLog::ucp_rows, link);
}

}  // namespace

void match_messages(Job& job) {
  match_groups(job);
  link_data_receives(job);
  if (const std::uint64_t count = job.findings.doubtful_by_loss; count != 0) {
    job.run.notes.push_back(fmt::format(
        "{} message{} ambiguous because records were dropped, or parts of logs cannot be read: "
        "which receive took which send is not certain then",
        count, count == 1 ? " is" : "s are"));
  }
}

}  // namespace uctrace::merge
