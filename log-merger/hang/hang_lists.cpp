#include "log-merger/hang/hang_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "log-merger/hang/rank_words.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

namespace {

std::string comm_words(const std::string& comm) {
  return comm.empty() ? "a communicator whose name is not known" : comm;
}

}  // namespace

const OpenWait* HangLists::wait_for(ProcessIndex process, ProcessIndex next,
                                    const Sitter*& of) const {
  const auto [begin, end] = sitters_.of[process];
  for (std::size_t i = begin; i < end; ++i) {
    for (const OpenWait& wait : waiting_[i].waits) {
      if (!wait.is_for(next)) continue;
      of = &sitters_.all[i];
      return &wait;
    }
  }
  return nullptr;
}

HangLists::Json HangLists::cycles_json() const {
  Json cycles = Json::array();
  for (const std::vector<WaitNode>& cycle : found_.cycles) {
    const std::vector<ProcessIndex> processes = processes_of(cycle);
    Json steps = Json::array();
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const ProcessIndex next = processes[(i + 1) % processes.size()];
      const Sitter* sitter = nullptr;
      const OpenWait* const wait = wait_for(processes[i], next, sitter);
      if (wait == nullptr) continue;
      const CallIndex call = sitter->polls > 0 ? sitter->polled : sitter->call;
      steps.push_back({{"rank", number_of(processes[i])},
                       {"waits_for", number_of(next)},
                       {"call", function(call)},
                       {"call_site", or_null(call_site(job_, job_.calls[call]))},
                       {"any", wait->any || waiting_any(*sitter)},
                       {"text", wait->text},
                       {"unsure", or_null(wait->unsure)}});
    }
    cycles.push_back(std::move(steps));
  }
  return cycles;
}

bool HangLists::waiting_any(const Sitter& sitter) const {
  return waiting_[static_cast<std::size_t>(&sitter - sitters_.all.data())].any;
}

std::size_t HangLists::waiting_processes() const {
  std::set<ProcessIndex> waiting;
  for (std::size_t i = 0; i < sitters_.all.size(); ++i) {
    if (is_waiting(i)) waiting.insert(sitters_.all[i].process);
  }
  return waiting.size();
}

HangLists::Json HangLists::blocked_on_json() const {
  Json list = Json::array();
  const std::size_t all = waiting_processes();
  for (const ChainEnd& end : ends_) {
    const ProcessIndex process(end.node);
    RankGroup group;
    for (const WaitNode node : end.waiting) group.processes.emplace_back(node);
    const Sitter* const sitter = sitter_of(process);
    list.push_back(
        {{"rank", number_of(process)},
         {"waiting", group.processes.size()},
         {"all", group.processes.size() == all},
         {"ranks", ranks_json(group)},
         {"gone", static_cast<bool>(sitters_.gone[process])},
         {"silent", static_cast<bool>(sitters_.silent[process])},
         {"text", fmt::format("{}, which {}", rank_words(job_, process),
                              sitter == nullptr ? "has no rank" : words_.words(*sitter))}});
  }
  return list;
}

HangLists::Json HangLists::mismatched_json() {
  Json list = Json::array();
  std::set<std::tuple<InstanceIndex, bool, std::size_t>> seen;
  for (std::size_t i = 0; i < sitters_.all.size(); ++i) {
    for (const OpenWait& wait : waiting_[i].waits) {
      if (!wait.never || !is_waiting(i)) continue;
      const MpiCall& call = job_.calls[wait.asked_by];
      const CollectiveState& state = finder_.collectives().state_of(wait.asked_by);
      const InstanceIndex instance = finder_.members().instance(call.process, call.comm);
      if (!seen.insert({instance, call.on_window, state.number}).second) continue;
      list.push_back(mismatch_json(call, state));
    }
  }
  return list;
}

HangLists::Json HangLists::mismatch_json(const MpiCall& call, const CollectiveState& state) {
  const RankGroupRef members =
      finder_.members().all(finder_.members().instance(call.process, call.comm));
  std::set<ProcessIndex> elsewhere(state.not_entered->processes.begin(),
                                   state.not_entered->processes.end());
  Json calls = Json::array();
  std::string text;
  const auto add = [&](const std::string& function, const RankGroup& group) {
    calls.push_back({{"call", function}, {"ranks", ranks_json(group)}, {"count", group.size()}});
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", rank_words(job_, group, false),
                        function);
  };
  for (const OtherOperation& other : state.others) {
    elsewhere.insert(other.members->processes.begin(), other.members->processes.end());
  }
  RankGroup same;
  for (const ProcessIndex process : members->processes) {
    if (!elsewhere.contains(process)) same.processes.push_back(process);
  }
  add(job_.run.texts[call.function], same);
  for (const OtherOperation& other : state.others) add(other.function, *other.members);
  const std::string comm = comm_name(job_, call.process, call.comm);
  return {{"comm", or_null(comm)},
          {"number", state.number},
          {"calls", std::move(calls)},
          {"text", fmt::format("{}, each as its {} collective call on {}", text,
                               ordinal(state.number), comm.empty() ? "a communicator" : comm)},
          {"unsure", or_null(state.unsure)}};
}

HangLists::Json HangLists::nearest_json() const {
  Json list = Json::array();
  for (std::size_t i = 0; i < sitters_.all.size(); ++i) {
    if (!is_waiting(i)) continue;
    for (const OpenWait& wait : waiting_[i].waits) {
      if (!wait.message) continue;
      const auto nearest = finder_.unmatched().nearest(*wait.message);
      if (!nearest) continue;
      Json row = nearest_one(*wait.message, *nearest);
      row["stuck"] = is_stuck(sitters_.all[i].process);
      list.push_back(std::move(row));
    }
  }
  return list;
}

// The sending call may name the receiver even if that left no log.
std::string HangLists::receiver_words(const SentMessage& sent) const {
  if (sent.to != kNone) return rank_words(job_, sent.to);
  const UcpOp& send = job_.ucp[sent.op];
  const std::int32_t rank = send.asked_by == kNone ? -1
                                                   : world_rank(job_, job_.calls[send.asked_by],
                                                                job_.calls[send.asked_by].peer);
  return rank < 0 ? "a rank that left no log" : fmt::format("rank {}, which left no log", rank);
}

HangLists::Json HangLists::nearest_one(const WantedMessage& wanted,
                                       const NearestSend& nearest) const {
  const UcpOp& send = job_.ucp[nearest.send];
  const SentMessage& sent = *finder_.unmatched().message_of(nearest.send);
  const std::string comm = comm_name(job_, wanted.at, wanted.comm),
                    sent_comm = comm_name(job_, send.process, send.comm);
  Json differs = Json::array();
  if (nearest.differs.tag) differs.push_back("tag");
  if (nearest.differs.comm) differs.push_back("comm");
  if (nearest.differs.destination) differs.push_back("destination");
  if (nearest.differs.source) differs.push_back("source");
  const std::string what = nearest.differs.tag    ? fmt::format("tag {}", sent.tag)
                           : nearest.differs.comm ? fmt::format("it on {}", comm_words(sent_comm))
                           : nearest.differs.destination
                               ? fmt::format("it to {}", receiver_words(sent))
                               : "it";
  const std::string tag_text =
      wanted.tag == log::MpiCall::kAny ? "any tag" : fmt::format("tag {}", wanted.tag);
  const bool from_one = !wanted.any_source && wanted.sources->size() == 1;
  Json json = {{"rank", number_of(wanted.at)},
               {"peer", wanted.any_source ? Json("any")
                        : from_one        ? ranks_json(*wanted.sources).front()
                                          : Json(nullptr)},
               {"tag", number_or_any(wanted.tag)},
               {"comm", or_null(comm)},
               {"differs", std::move(differs)},
               {"sent",
                {{"rank", number_of(sent.from)},
                 {"to", sent.to == kNone ? Json(nullptr) : number_of(sent.to)},
                 {"tag", sent.tag},
                 {"comm", or_null(sent_comm)},
                 {"bytes", send.bytes},
                 {"t_ns", send.start_ns},
                 {"call", send.asked_by == kNone ? Json(nullptr) : Json(function(send.asked_by))},
                 {"call_site", send.asked_by == kNone
                                   ? Json(nullptr)
                                   : or_null(call_site(job_, job_.calls[send.asked_by]))}}}};
  json["text"] = fmt::format(
      "{} waits for {} from {} on {}; {} sent {}{}", rank_words(job_, wanted.at), tag_text,
      wanted.any_source ? "any rank" : rank_words(job_, *wanted.sources, false), comm_words(comm),
      rank_words(job_, sent.from), what,
      send.asked_by == kNone ? "" : fmt::format(", by {}", words_.with_site(send.asked_by)));
  return json;
}

}  // namespace uctrace::merge
