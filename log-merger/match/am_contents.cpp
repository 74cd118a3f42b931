#include "log-merger/match/am_contents.hpp"

#include <algorithm>

#include "log-merger/attribute/wire_view.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

// A fragment of the program's active messages, or the announcement of one.
template <typename Event>
bool is_fragment(const Event& event) {
  return starts_am_send(event) || is(event, AmId::am_middle);
}

// Whether its header tells it from others, as far as they differ.
template <typename Event>
bool tells_content(const Event& event) {
  return is_fragment(event) && event.header.count == wire::shape_of(event.am_id).words;
}

// kNone: it was not seen to come from a call that sends an active message. What a blocking call
// posts may be anybody's.
Index send_that_posted(const Job& job, const UctOp& op) {
  if (!accepted(op) || op.origin_kind != log::Origin::ucp || op.route == log::Route::blocking ||
      op.parent_id != 0) {
    return kNone;
  }
  const auto& ids = job.logs[static_cast<std::size_t>(op.process)].ucp_by_id;
  const auto found = ids.find(op.origin);
  const bool is_send = found != ids.end() &&
                       job.ucp[static_cast<std::size_t>(found->second)].is(log::UcpFamily::am_send);
  return is_send ? found->second : kNone;
}

bool is_first_word_of(const UcpOp& send, const UctOp& fragment) {
  const std::uint64_t word = fragment.header.words[0];
  return (word & 0xffff) == send.tag &&
         wire::program_header_bytes(fragment.am_id, word) == send.header_bytes;
}

// What a fragment moves of its send, or announces.
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
    name_sends();
    name_calls();
  }
}

AmContents::Name AmContents::content_of(std::uint8_t am_id, const HeaderWords& header) {
  const auto& w = header.words;
  const auto next = static_cast<Name>(contents_.size());
  return contents_.try_emplace({am_id, w[0], w[1], w[2], w[3], w[4]}, next).first->second;
}

std::unordered_map<Index, AmContents::Fragments> AmContents::fragments_of_sends() {
  std::unordered_map<Index, Fragments> sends;
  for (const UctOp& op : job_.uct) {
    const Index index = is_fragment(op) ? send_that_posted(job_, op) : kNone;
    if (index == kNone) {
      continue;
    }
    Fragments& fragments = sends[index];
    if (!tells_content(op)) {
      fragments.known = false;
      continue;
    }
    const Name content = content_of(op.am_id, op.header);
    fragments.all.push_back(content);
    fragments.bytes += bytes_of_send(op);
    if (starts_am_send(op)) {
      fragments.known = fragments.known && fragments.name == kUnknown &&
                        is_first_word_of(job_.ucp[static_cast<std::size_t>(index)], op);
      fragments.name = content;
    }
  }
  return sends;
}

// A content of several names says nothing of either.
void AmContents::name_sends() {
  for (const auto& [index, fragments] : fragments_of_sends()) {
    const UcpOp& send = job_.ucp[static_cast<std::size_t>(index)];
    const bool length_known = (send.flags & log::UcpOperation::kUnknownLength) == 0;
    const bool whole = length_known ? fragments.bytes == send.bytes : fragments.all.size() == 1;
    if (!fragments.known || fragments.name == kUnknown || !whole) {
      continue;
    }
    names_[index] = fragments.name;
    for (const Name content : fragments.all) {
      const auto [place, fresh] = sent_as_.try_emplace(content, fragments.name);
      place->second = fresh || place->second == fragments.name ? fragments.name : kUnknown;
    }
  }
}

// A content that none of these sends has is a name as well.
void AmContents::name_calls() {
  for (std::size_t i = 0; i < job_.ucp.size(); ++i) {
    const UcpOp& call = job_.ucp[i];
    if (!call.is(log::UcpFamily::am_receive)) {
      continue;
    }
    const ProcessLog& log = job_.logs[static_cast<std::size_t>(call.process)];
    const auto found = log.arrival_by_id.find(call.arrival);
    if (found == log.arrival_by_id.end()) {
      continue;
    }
    const Arrival& arrival = job_.arrivals[static_cast<std::size_t>(found->second)];
    if (tells_content(arrival)) {
      const Name content = content_of(arrival.am_id, arrival.header);
      const auto sent_as = sent_as_.find(content);
      names_[static_cast<Index>(i)] = sent_as == sent_as_.end() ? content : sent_as->second;
    }
  }
}

AmContents::Name AmContents::name_of(Index op) const {
  const auto found = names_.find(op);
  return found == names_.end() ? kUnknown : found->second;
}

// A send and the call that took it have the same name where both have one: where all do, they can
// be laid apart. Where only sends or only calls lack theirs, as many sends as calls of a name were
// each other's if nothing is left over of the group: no other call took one of these sends, or no
// other send was taken by one of these calls. What does not add up stays together.
std::vector<Group> AmContents::apart(const Group& group, bool all_recorded) const {
  std::map<Name, Group> of_name;
  for (const Index send : group.sends) of_name[name_of(send)].sends.push_back(send);
  for (const Index call : group.receives) of_name[name_of(call)].receives.push_back(call);
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
