#include "log-merger/match/am_contents.hpp"

#include <algorithm>
#include <map>

#include "log-merger/attribute/wire_view.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

// A fragment of an active message of the program, or its announcement.
template <typename Event>
bool is_fragment(const Event& event) {
  return starts_am_send(event) || is(event, AmId::am_middle);
}

// Whether its header can distinguish it from others.
template <typename Event>
bool tells_content(const Event& event) {
  return is_fragment(event) && event.header.count == wire::shape_of(event.am_id).words;
}

// kNone: not posted in a call that sends an active message. A blocking call may post for any
// operation.
UcpIndex send_that_posted(const Job& job, const UctOp& op) {
  if (!accepted(op) || op.origin_kind != log::Origin::ucp || op.route == log::Route::blocking ||
      op.parent_id != 0) {
    return kNone;
  }
  const auto& ids = job.logs[op.process].ucp_by_id;
  const auto found = ids.find(op.origin);
  const bool is_send = found != ids.end() && job.ucp[found->second].is(log::UcpFamily::am_send);
  return is_send ? found->second : kNone;
}

bool is_first_word_of(const UcpOp& send, const UctOp& fragment) {
  const std::uint64_t word = fragment.header.words[0];
  return (word & 0xffff) == send.tag &&
         wire::program_header_bytes(fragment.am_id, word) == send.header_bytes;
}

// The bytes of its send that a fragment moves or announces.
std::uint64_t bytes_of_send(const UctOp& fragment) {
  const auto& words = fragment.header.words;
  return is(fragment, AmId::rndv_rts)
             ? words[4] + wire::program_header_bytes(fragment.am_id, words[0])
             : fragment.bytes - wire::shape_of(fragment.am_id).header_bytes;
}

}  // namespace

AmContents::AmContents(const Job& job) : job_(job) {
  const bool any = std::any_of(job.ucp.begin(), job.ucp.end(),
                               [](const UcpOp& op) { return op.is(log::UcpFamily::am_receive); });
  if (any) {
    names_.assign(job.ucp.size(), kUnknown);
    name_sends();
    each_process(job, [&](const ProcessRows& rows) { name_calls(rows.ucp); });
  }
}

AmContents::Name AmContents::content_of(std::uint8_t am_id, const HeaderWords& header) {
  std::uint64_t hash = am_id;
  for (const std::uint64_t word : header.words) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return std::max(hash, kNotSent + 1);  // smaller values have special meanings
}

// The fragments that a process sent, by their place in its rows.
std::vector<AmContents::Told> AmContents::read_fragments(const ProcessRows& rows,
                                                         std::vector<Posted>& posted) const {
  std::vector<Told> sends(rows.ucp.end - rows.ucp.begin);
  for (std::size_t i = rows.uct.begin; i < rows.uct.end; ++i) {
    const UctOp& op = job_.uct[i];
    const UcpIndex index = is_fragment(op) ? send_that_posted(job_, op) : kNone;
    if (index == kNone) {
      continue;
    }
    Told& told = sends[index.place() - rows.ucp.begin];
    ++told.fragments;
    if (!tells_content(op)) {
      told.all_known = false;
      continue;
    }
    const Name content = content_of(op.am_id, op.header);
    posted.push_back({content, index});
    told.bytes += bytes_of_send(op);
    if (starts_am_send(op)) {
      told.all_known =
          told.all_known && told.name == kUnknown && is_first_word_of(job_.ucp[index], op);
      told.name = content;
    }
  }
  return sends;
}

void AmContents::name_sends(const ProcessRows& rows, std::vector<Posted>& posted) {
  const std::vector<Told> sends = read_fragments(rows, posted);
  for (const UcpIndex i : Indexes<UcpOp>(rows.ucp.begin, rows.ucp.end)) {
    const Told& told = sends[i.place() - rows.ucp.begin];
    const UcpOp& send = job_.ucp[i];
    const bool length_known = (send.flags & log::UcpOperation::kUnknownLength) == 0;
    const bool whole = length_known ? told.bytes == send.bytes : told.fragments == 1;
    if (told.all_known && whole) names_[i] = told.name;
  }
}

// A content with several names identifies none of them.
void AmContents::name_sends() {
  const std::vector<ProcessRows> rows = rows_of_processes(job_);
  std::vector<std::vector<Posted>> of_process(rows.size());
  job_.workers.each(rows.size(), [&](std::size_t i) { name_sends(rows[i], of_process[i]); });
  std::vector<Posted> posted;
  for (const auto& some : of_process) posted.insert(posted.end(), some.begin(), some.end());
  std::sort(posted.begin(), posted.end(),
            [](const Posted& a, const Posted& b) { return a.content < b.content; });
  for (const auto& [content, send] : posted) {
    const Name name = name_of(send);
    if (name == kUnknown) continue;
    if (sent_as_.empty() || sent_as_.back().content != content) {
      sent_as_.push_back({content, name});
    } else if (sent_as_.back().name != name) {
      sent_as_.back().name = kUnknown;
    }
  }
}

AmContents::Name AmContents::sent_as(Name content) const {
  const auto found =
      std::lower_bound(sent_as_.begin(), sent_as_.end(), content,
                       [](const SentAs& of, Name wanted) { return of.content < wanted; });
  return found != sent_as_.end() && found->content == content ? found->name : kNotSent;
}

// A content that no send has is a name as well.
void AmContents::name_calls(RowSpan rows) {
  for (const UcpIndex i : Indexes<UcpOp>(rows.begin, rows.end)) {
    const UcpOp& call = job_.ucp[i];
    if (!call.is(log::UcpFamily::am_receive)) {
      continue;
    }
    const ProcessLog& log = job_.logs[call.process];
    const auto found = log.arrival_by_id.find(call.arrival);
    if (found == log.arrival_by_id.end()) {
      continue;
    }
    const Arrival& arrival = job_.arrivals[found->second];
    if (tells_content(arrival)) {
      const Name content = content_of(arrival.am_id, arrival.header);
      const Name name = sent_as(content);
      names_[i] = name == kNotSent ? content : name;
    }
  }
}

AmContents::Name AmContents::name_of(UcpIndex op) const {
  return names_.empty() ? kUnknown : names_[op];
}

// A send and the call that took it have the same name if both have one: if all have names, they can
// be separated by name. If only sends, or only calls, lack names, then equally many sends and calls
// of a name belong together, provided the rest of the group adds up: no other call took one of
// these sends, or these calls took no other send. What does not add up stays together.
std::vector<Group> AmContents::apart(const Group& group, bool all_recorded) {
  std::map<Name, Group> of_name;
  for (const HalfMessage& send : group.sends) of_name[send.content].sends.push_back(send);
  for (const HalfMessage& call : group.receives) of_name[call.content].receives.push_back(call);
  const bool balanced = all_recorded && group.sends.size() == group.receives.size();
  const auto unnamed = of_name.find(kUnknown);
  if (unnamed != of_name.end() &&
      (!balanced || (!unnamed->second.sends.empty() && !unnamed->second.receives.empty()))) {
    return {group};
  }
  std::vector<Group> parts;
  Group rest;
  for (auto& [name, part] : of_name) {
    if (!balanced || part.sends.size() == part.receives.size()) {
      parts.push_back(std::move(part));
    } else {
      rest.sends.insert(rest.sends.end(), part.sends.begin(), part.sends.end());
      rest.receives.insert(rest.receives.end(), part.receives.begin(), part.receives.end());
    }
  }
  parts.push_back(std::move(rest));
  return parts;
}

}  // namespace uctrace::merge
