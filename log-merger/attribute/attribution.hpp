// Shared by the steps of the attribution: how an operation gets its result, and how the two sides
// of a header are paired. Private to the attribution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Whether it used an interface of a UCP whose calls are not in the log. The operation that it
// serves is then not in the log either, and its ids and addresses may equal those of another UCP.
template <typename Event>
bool is_of_bypassed_ucp(const Job& job, const Event& event) {
  const Interface* interface = job.logs[event.process].interface(event.interface);
  return interface != nullptr && interface->bypassed;
}

// The UCT operations that a step may still attribute: the list gets shorter from step to step.
// Staging inside another operation gets the result of that.
class OpenOperations {
 public:
  explicit OpenOperations(Job& job) : job_(job) {}

  template <typename Body>
  void each(Body body) {
    visit(Workers(), body);
  }
  // Several processes in parallel: for bodies that write only to the operation and to data of its
  // process.
  template <typename Body>
  void each_at_once(Body body) {
    visit(job_.workers, body);
  }

 private:
  bool is_open(const UctOp& op) const {
    return op.link == Link::unattributed && accepted(op) && op.parent_id == 0 &&
           !is_of_bypassed_ucp(job_, op);
  }

  template <typename Body>
  void visit(const Workers& workers, Body& body) {
    const std::vector<RowSpan> spans =
        spans_of_processes(job_, job_.uct.size(), &ProcessLog::uct_rows);
    const bool listed = !open_.empty();
    open_.resize(spans.size());
    workers.each(spans.size(), [&](std::size_t part) {
      std::vector<UctIndex> left;
      const auto look_at = [&](UctIndex index) {
        UctOp& op = job_.uct[index];
        if (!is_open(op)) return;
        body(op);
        if (op.link == Link::unattributed) left.push_back(index);
      };
      if (listed) {
        for (const UctIndex index : open_[part]) look_at(index);
      } else {
        for (const UctIndex index : Indexes<UctOp>(spans[part].begin, spans[part].end)) {
          look_at(index);
        }
      }
      open_[part] = std::move(left);
    });
  }

  Job& job_;
  std::vector<std::vector<UctIndex>>
      open_;  // by part of the job's vector; none before the first step
};

// All of them, of several processes at once.
template <typename Body>
void each_at_once(Job& job, Body body) {
  each_process_of(job, job.uct.size(), &ProcessLog::uct_rows,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) body(job.uct[i]);
                  });
}

// By UCP operation: whether one of its UCT operations is known. A byte each, because several
// processes set them in parallel.
using StartedOperations = ByIndex<UcpOp, std::uint8_t>;

inline void attribute(UctOp& op, UcpIndex serves, Link link) {
  if (serves != kNone) {
    op.serves = serves;
    op.link = link;
  }
}

inline void give_reason(UctOp& op, const char* why) {
  op.link = Link::reason;
  op.reason = why;
}

// The process at the other end.
inline ProcessIndex receiver_of(const Job& job, const UcpOp& send) {
  return send.partner != kNone ? job.ucp[send.partner].process : send.peer_process;
}

// A header that both sides saw: the k-th arrival with it at a process is the k-th post with it to
// that process. kNone: the sender's endpoint does not tell its peer.
using HeaderKey = std::tuple<ProcessIndex, std::uint8_t, std::uint64_t, std::uint64_t,
                             std::uint64_t, std::uint64_t, std::uint64_t>;

inline HeaderKey key_of(ProcessIndex destination, std::uint8_t am_id, const HeaderWords& h) {
  return {destination, am_id, h.words[0], h.words[1], h.words[2], h.words[3], h.words[4]};
}

// The wanted rows, by time. Rows of the same instant keep their order.
template <typename Event, typename Wanted>
std::vector<IndexOf<Event>> in_time_order(const JobRows<Event>& events, RowSpan rows,
                                          Wanted wanted) {
  std::vector<std::pair<std::int64_t, IndexOf<Event>>> times;
  for (const IndexOf<Event> index : Indexes<Event>(rows.begin, rows.end)) {
    if (wanted(events[index])) times.emplace_back(events[index].start_ns, index);
  }
  std::sort(times.begin(), times.end());
  std::vector<IndexOf<Event>> order;
  order.reserve(times.size());
  for (const auto& [time, index] : times) order.push_back(index);
  return order;
}

template <typename Event, typename Wanted>
std::vector<IndexOf<Event>> in_time_order(const JobRows<Event>& events, Wanted wanted) {
  return in_time_order(events, {0, events.size()}, wanted);
}

// Merges lists that are each in the order of time.
template <typename Event>
std::vector<IndexOf<Event>> in_time_order(const JobRows<Event>& events,
                                          const std::vector<std::vector<IndexOf<Event>>>& lists) {
  std::vector<IndexOf<Event>> order;
  for (const auto& list : lists) order.insert(order.end(), list.begin(), list.end());
  std::stable_sort(order.begin(), order.end(), [&](IndexOf<Event> a, IndexOf<Event> b) {
    return events[a].start_ns < events[b].start_ns;
  });
  return order;
}

}  // namespace uctrace::merge
