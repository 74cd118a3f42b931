#include "log-merger/match/message_groups.hpp"

#include <algorithm>
#include <numeric>

#include "log-merger/match/am_contents.hpp"

namespace uctrace::merge {
namespace {

// A send through an endpoint of a worker to itself, or a receive through the transport `self`.
bool is_from_self(const Job& job, const UcpOp& op) {
  const ProcessLog& log = job.logs[op.process];
  if (op.is_send()) {
    const auto at = row_at(log.ucp_endpoints, op.handle, op.start_tick);
    const IndexOf<Worker> worker =
        at == kNone ? kNone : log.worker_at(log.ucp_endpoints[at].worker, op.start_tick);
    return worker != kNone && log.workers[worker].uid == op.peer_uid && log.ucp_has_self_transport;
  }
  const auto arrival = log.arrival_by_id.find(op.arrival);
  if (arrival == log.arrival_by_id.end()) {
    return false;
  }
  const Interface* interface = log.interface(job.arrivals[arrival->second].interface);
  return interface != nullptr && interface->is_self;
}

MessageKey key_of(const Job& job, const UcpOp& op, std::uint64_t worker_uid, std::uint64_t tag) {
  if (op.is(log::UcpFamily::am_send) || op.is(log::UcpFamily::am_receive)) {
    return {worker_uid,           tag, log::UcpFamily::am_send, op.bytes, op.header_bytes,
            is_from_self(job, op)};
  }
  return {worker_uid, tag};
}

HalfMessage half_of(const UcpOp& op) {
  return {.process = op.process,
          .lane = op.lane,
          .handle = op.handle,
          .start_ns = op.start_ns,
          .end_ns = op.end_ns,
          .posted_tick = op.posted_tick,
          .id = op.id};
}

HalfMessage half_of_send(const UcpOp& op) {
  HalfMessage half = half_of(op);
  half.any_length = (op.flags & log::UcpOperation::kUnknownLength) != 0;
  half.bytes = op.bytes;
  return half;
}

HalfMessage half_of_receive(const UcpOp& op) {
  HalfMessage half = half_of(op);
  half.any_length = op.end_status != 0;
  half.bytes = op.received_bytes;
  half.taken_ns = op.taken_ns();
  return half;
}

// Whether a receive without an end took nothing from any part considered: its log has everything
// after the overwritten events, so the end must be among those. (A receive that immediately takes a
// message ends before it is recorded, so its end may be overwritten and its beginning not.)
bool ended_in_overwritten(const ProcessLog& log, const UcpOp& receive) {
  const std::vector<LaneGap>& gaps = log.recorded.lane_gaps;
  return log.file.complete() &&
         std::all_of(gaps.begin(), gaps.end(),
                     [](const LaneGap& gap) { return gap.overwritten; }) &&
         std::any_of(gaps.begin(), gaps.end(), [&](const LaneGap& gap) {
           return gap.lane == receive.lane && receive.posted_tick <= gap.span.end_tick;
         });
}

}  // namespace

void UnknownReceives::add(std::uint64_t mask, std::uint64_t tag, std::uint64_t tick) {
  const auto [place, fresh] = first_[mask].try_emplace(tag & mask, tick);
  place->second = std::min(place->second, tick);
}

void UnknownReceives::add(const UcpOp& receive) {
  add(receive.tag_mask, receive.tag, receive.posted_tick);
}

void UnknownReceives::add(const UnknownReceives& others) {
  for (const auto& [mask, first_of_tag] : others.first_) {
    for (const auto& [tag, tick] : first_of_tag) add(mask, tag, tick);
  }
}

std::uint64_t UnknownReceives::first_doubtful_tick(const MessageKey& key) const {
  std::uint64_t first = UINT64_MAX;
  if (key.sent_by != log::UcpFamily::tag_send) {
    return first;
  }
  for (const auto& [mask, first_of_tag] : first_) {
    if (const auto found = first_of_tag.find(key.tag & mask); found != first_of_tag.end()) {
      first = std::min(first, found->second);
    }
  }
  return first;
}

HalfMessages::HalfMessages(Job& job, const AmContents& contents) {
  const std::vector<RowSpan> spans = spans_of_processes(job, job.ucp.size(), &ProcessLog::ucp_rows);
  found_.resize(spans.size());
  job.workers.each(spans.size(),
                   [&](std::size_t i) { collect(job, contents, spans[i], found_[i]); });
  for (const OfProcess& of_process : found_) {
    for (const auto& [worker, unknown] : of_process.unknown) unknown_[worker].add(unknown);
  }
}

void HalfMessages::collect(Job& job, const AmContents& contents, RowSpan rows, OfProcess& found) {
  const auto add = [&](UcpIndex at, std::uint64_t worker_uid, std::uint64_t tag, bool is_send) {
    const UcpOp& op = job.ucp[at];
    HalfMessage half = is_send ? half_of_send(op) : half_of_receive(op);
    half.op = at;
    half.content = contents.name_of(half.op);
    found.halves.push_back({key_of(job, op, worker_uid, tag), half, is_send});
  };
  for (const UcpIndex i : Indexes<UcpOp>(rows.begin, rows.end)) {
    UcpOp& op = job.ucp[i];
    if (op.is_stream()) continue;  // match_streams.cpp
    if (op.is_one_sided()) {
      // Its endpoint says where it went.
      op.match = op.accepted() && op.peer_process != kNone ? Match::exact : Match::unmatched;
    } else if (op.is_send() && op.accepted() && !op.failed() && op.peer_uid != 0) {
      add(i, op.peer_uid, op.tag, true);
    } else if (op.received() && op.worker_uid != 0) {
      add(i, op.worker_uid, op.sender_tag, false);
    } else if (op.took_unknown() && op.worker_uid != 0 &&
               !ended_in_overwritten(job.logs[op.process], op)) {
      found.unknown[op.worker_uid].add(op);
    }
  }
  lay_by_part(found);
}

// Those of a part stay in order.
void HalfMessages::lay_by_part(OfProcess& found) {
  std::array<std::size_t, kParts + 1>& begin = found.part_begin;
  for (const Half& half : found.halves) ++begin[part_of(half.key) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Half> by_part(found.halves.size());
  auto next = begin;
  for (const Half& half : found.halves) by_part[next[part_of(half.key)]++] = half;
  found.halves = std::move(by_part);
}

MessageGroups HalfMessages::groups_of(std::size_t part) const {
  MessageGroups groups;
  for (const OfProcess& of_process : found_) {
    for (std::size_t i = of_process.part_begin[part]; i < of_process.part_begin[part + 1]; ++i) {
      const Half& half = of_process.halves[i];
      Group& group = groups[half.key];
      (half.is_send ? group.sends : group.receives).push_back(half.half);
    }
  }
  return groups;
}

const UnknownReceives* HalfMessages::unknown_of(std::uint64_t worker_uid) const {
  const auto found = unknown_.find(worker_uid);
  return found == unknown_.end() ? nullptr : &found->second;
}

}  // namespace uctrace::merge
