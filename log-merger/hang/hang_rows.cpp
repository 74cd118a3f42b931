// The rows of `ranks`.
#include <algorithm>

#include "log-merger/hang/hang_lists.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

HangLists::Json HangLists::wait_json(const OpenWait& wait) const {
  return {{"what", wait.kind},
          {"ranks", ranks_json(wait)},
          {"count", wait.count()},
          {"any", wait.any},
          {"never", wait.never},
          {"asked_by", wait.asked_by == kNone ? Json(nullptr) : Json(function(wait.asked_by))},
          {"text", wait.text},
          {"unsure", or_null(wait.unsure)}};
}

HangLists::Json HangLists::rank_json(std::size_t i) const {
  const Sitter& sitter = sitters_.all[i];
  const Waiting& waiting = waiting_[i];
  const ProcessLog& log = job_.logs[sitter.process];
  const Process& row = job_.run.processes[sitter.process.place()];
  const CallIndex index = sitter.polls > 0 ? sitter.polled : sitter.call;
  const MpiCall* const call = index == kNone ? nullptr : &job_.calls[index];
  Json waits = Json::array();
  for (const OpenWait& wait : waiting.waits) waits.push_back(wait_json(wait));
  const auto of_call = [&](auto value) { return call == nullptr ? Json(nullptr) : value(*call); };
  const bool known_lane = sitter.lane < log.file.lanes().size();
  const std::int64_t for_ns = last_instant(log) - sitter.since_ns;
  const auto wanted = [&](const MpiCall& c) { return message_of(c, waiting); };
  return {
      {"rank", row.rank},
      {"call", of_call([&](const MpiCall& c) { return Json(job_.run.texts[c.function]); })},
      {"call_site", of_call([&](const MpiCall& c) { return or_null(call_site(job_, c)); })},
      {"peer", of_call([&](const MpiCall& c) { return wanted(c).first; })},
      {"tag", of_call([&](const MpiCall& c) { return wanted(c).second; })},
      {"since_ns", sitter.since_ns < 0 ? Json(nullptr) : Json(sitter.since_ns)},
      {"for_ns", sitter.since_ns < 0 || !has_newest_instant(log)
                     ? Json(nullptr)
                     : Json(std::max<std::int64_t>(0, for_ns))},
      {"comm",
       of_call([&](const MpiCall& c) { return or_null(comm_name(job_, c.process, c.comm)); })},
      {"in_no_call", sitter.call == kNone && !sitters_.gone[sitter.process]},
      {"polls", sitter.polls},
      {"last_call", sitter.last == kNone ? Json(nullptr) : Json(function(sitter.last))},
      {"last_call_site",
       sitter.last == kNone ? Json(nullptr) : or_null(call_site(job_, job_.calls[sitter.last]))},
      {"waits_for", std::move(waits)},
      {"any", waiting.any},
      {"stuck", is_waiting(i) && is_stuck(sitter.process)},
      {"on_its_way", or_null(waiting.on_its_way)},
      {"settled", sitter.settled},
      {"gone", static_cast<bool>(sitters_.gone[sitter.process])},
      {"silent", static_cast<bool>(sitters_.silent[sitter.process])},
      {"exit", exit_of(job_, sitter.process)},
      {"world", row.world < 0 ? Json(nullptr) : Json(row.world)},
      {"thread", known_lane ? Json(log.file.lanes()[sitter.lane].tid) : Json(nullptr)},
      {"host", job_.run.texts[row.host]},
      {"pid", row.pid},
      {"unknown", or_null(waiting.unknown)}};
}

std::pair<HangLists::Json, HangLists::Json> HangLists::message_of(const MpiCall& call,
                                                                  const Waiting& waiting) const {
  Json peer = number_or_any(world_rank(job_, call, call.peer)), tag = number_or_any(call.tag);
  if (call.peer != log::MpiCall::kNone || waiting.waits.size() != 1) return {peer, tag};
  const OpenWait& wait = waiting.waits.front();
  const bool one = wait.of->processes.size() == 1 && wait.of->size() == 1;
  if (wait.message) tag = number_or_any(wait.message->tag);
  if (wait.message && wait.message->any_source) {
    peer = "any";
  } else if (one && (wait.message || std::string(wait.kind) == "receiver")) {
    peer = number_of(wait.of->processes.front());
  }
  return {peer, tag};
}

}  // namespace uctrace::merge
