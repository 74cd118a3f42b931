#include "log-merger/waits/point_to_point.hpp"

#include <algorithm>
#include <string>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace::merge {

namespace {

// Whether the operation at the other end is known.
bool has_partner(const UcpOp& op) {
  return op.partner != kNone && (op.match == Match::exact || op.match == Match::inferred);
}

constexpr std::size_t kLaterReceives = 100;  // examined for a wrong order

}  // namespace

// When the program began it: the start of its call, in which the operation may come later.
std::int64_t PointToPoint::began_ns(const UcpOp& op) const {
  const std::int64_t asked_ns = op.asked_by == kNone ? -1 : job_.calls[op.asked_by].start_ns;
  return asked_ns >= 0 ? asked_ns : op.start_ns;
}

Awaited PointToPoint::late_sender(CallIndex index, const UcpOp& receive) {
  constexpr WaitKind kKind = WaitKind::late_sender;
  const UcpOp& send = job_.ucp[receive.partner];
  const std::int64_t sent_ns = began_ns(send);
  Awaited one = maker_.awaited(kKind, index, send.process, send.asked_by, sent_ns);
  one.wait.message = send.message.number();
  one.done_ns = receive.end_ns;
  const MpiCall& call = job_.calls[index];
  // If times cannot be compared, count it as never there.
  const std::int64_t margin_ns =
      one.wait.unknown == WaitUnknown::none ? one.margin_ns : INT64_MAX / 2;
  received_.push_back({call.start_ns, began_ns(receive), sent_ns, margin_ns, send.process.number(),
                       call.lane, call.comm});
  messages_.push_back({send.process, receive.process, sent_ns, call.end_ns});
  return one;
}

std::vector<Awaited> PointToPoint::late_senders(CallIndex index, const Completed& completed) {
  constexpr WaitKind kKind = WaitKind::late_sender;
  std::vector<Awaited> awaited;
  for (const UcpIndex at : completed.messages) {
    const UcpOp& receive = job_.ucp[at];
    if (!receive.is_receive()) continue;
    if (!has_partner(receive)) {
      const bool was_there = receive.end_ns >= 0 && receive.end_ns <= job_.calls[index].start_ns;
      if (!was_there) awaited.push_back(maker_.unknown(kKind, index, WaitUnknown::partner));
    } else if (job_.ucp[receive.partner].process != receive.process) {
      awaited.push_back(late_sender(index, receive));
    }
  }
  return awaited;
}

bool PointToPoint::waits_for_receiver(const UcpOp& send) const {
  const std::string& function = send.asked_by == kNone
                                    ? job_.run.texts[kNoText]
                                    : job_.run.texts[job_.calls[send.asked_by].function];
  if (send.message == kNone) return parse_mpi_name(function).base == "ssend";
  const Message& message = job_.run.messages[send.message.place()];
  return needs_receiver(job_.run.texts[message.protocol], function);
}

std::vector<Awaited> PointToPoint::late_receivers(CallIndex index, const Completed& completed) {
  std::vector<Awaited> awaited;
  for (const UcpIndex at : completed.messages) {
    const UcpOp& send = job_.ucp[at];
    if (!send.is_send() || !waits_for_receiver(send)) continue;
    const MpiCall& call = job_.calls[index];
    if (!has_partner(send)) {
      const bool was_over = send.end_ns >= 0 && send.end_ns <= call.start_ns;
      if (!was_over) {
        awaited.push_back(maker_.unknown(WaitKind::late_receiver, index, WaitUnknown::partner));
      }
      continue;
    }
    const UcpOp& receive = job_.ucp[send.partner];
    const std::int64_t posted_ns = began_ns(receive);
    if (receive.process == send.process || (send.end_ns >= 0 && send.end_ns < posted_ns)) continue;
    Awaited one = maker_.awaited(WaitKind::late_receiver, index, receive.process, receive.asked_by,
                                 posted_ns);
    // The call returned before there was a receive: it did not wait for one.
    if (posted_ns > call.end_ns + one.margin_ns) continue;
    one.wait.message = send.message.number();
    one.done_ns = send.end_ns;
    awaited.push_back(one);
  }
  return awaited;
}

void PointToPoint::take_partitions(CallIndex index, std::vector<Awaited>& awaited) {
  const MpiCall& call = job_.calls[index];
  for (const Awaited& one : partitioned_.late_senders(maker_, index)) {
    awaited.push_back(one);
    if (one.wait.cause_process < 0) continue;
    const ProcessIndex sender(one.wait.cause_process);
    messages_.push_back({sender, call.process, one.ready_ns, call.end_ns});
  }
}

void PointToPoint::add_dependencies(CallIndex index, const Completed& completed) {
  for (const UcpIndex at : completed.messages) {
    const UcpOp& own = job_.ucp[at];
    if (!has_partner(own)) continue;
    const UcpOp& other = job_.ucp[own.partner];
    if (other.process == own.process || own.asked_by == kNone || other.asked_by == kNone) continue;
    const UcpOp& send = own.is_receive() ? other : own;
    if (own.is_send() &&
        (!waits_for_receiver(own) || (own.end_ns >= 0 && own.end_ns < began_ns(other)))) {
      continue;
    }
    dependencies_.messages.push_back(
        {.kind = own.is_receive() ? DependencyKind::message : DependencyKind::receiver,
         .call = index.number(),
         .begun = own.asked_by.number(),
         .on = other.asked_by.number(),
         .message = send.message.number()});
  }
  for (const EntryOfCall& begun : completed.operations) {
    dependencies_.completed.emplace_back(index, begun);
  }
}

void PointToPoint::take(CallIndex index) {
  const Completed completed = completed_.of(index);
  add_dependencies(index, completed);
  std::vector<Awaited> awaited = late_senders(index, completed);
  for (const EntryOfCall& begun : completed.operations) {
    const std::vector<Awaited> of_operation = collectives_.awaited(maker_, index, begun);
    awaited.insert(awaited.end(), of_operation.begin(), of_operation.end());
  }
  take_partitions(index, awaited);
  // A call that waits for a sender does not count as waiting for a receiver as well.
  const auto entered_ns = job_.calls[index].start_ns;
  const bool is_late = std::any_of(awaited.begin(), awaited.end(), [&](const Awaited& one) {
    return one.wait.unknown == WaitUnknown::none && one.ready_ns > entered_ns + one.margin_ns;
  });
  if (!is_late) {
    const std::vector<Awaited> receivers = late_receivers(index, completed);
    awaited.insert(awaited.end(), receivers.begin(), receivers.end());
    const std::vector<Awaited> of_partitions = partitioned_.late_receivers(maker_, index);
    awaited.insert(awaited.end(), of_partitions.begin(), of_partitions.end());
  }
  if (!completed.all_known) {
    awaited.push_back(maker_.unknown(WaitKind::late_sender, index, WaitUnknown::request));
  }
  maker_.add(index, std::move(awaited), rows_);
}

void PointToPoint::take_probe(CallIndex index) {
  constexpr WaitKind kKind = WaitKind::late_sender;
  if (!probed_) probed_.emplace(job_, process_, completed_);
  const UcpIndex found = probed_->found_by(index);
  if (found == kNone || !has_partner(job_.ucp[found])) {
    const WaitUnknown why = found == kNone ? WaitUnknown::request : WaitUnknown::partner;
    return maker_.add(index, {maker_.unknown(kKind, index, why)}, of_probes_);
  }
  const UcpOp& send = job_.ucp[job_.ucp[found].partner];
  if (send.process == process_) return;
  Awaited one = maker_.awaited(kKind, index, send.process, send.asked_by, began_ns(send));
  one.wait.message = send.message.number();
  const bool is_known = one.wait.unknown == WaitUnknown::none;
  if (is_known && one.ready_ns > job_.calls[index].end_ns + one.margin_ns) {
    // That was another message.
    return maker_.add(index, {maker_.unknown(kKind, index, WaitUnknown::request)}, of_probes_);
  }
  maker_.add(index, {one}, of_probes_);
  if (send.asked_by == kNone) return;
  dependencies_.messages.push_back({.kind = DependencyKind::message,
                                    .call = index.number(),
                                    .begun = index.number(),
                                    .on = send.asked_by.number(),
                                    .message = send.message.number()});
}

void PointToPoint::take_without_rule(CallIndex index, CallRole role) {
  maker_.add(index, collectives_.awaited_alone(maker_, index, role), rows_);
}

// A late sender is a wrong order if another message could have been received instead, but was
// received later by a later receive: from the same sender, a message sent before; from another
// sender, one that had arrived when the wait began. Scalasca's rule also counts other senders'
// messages that arrived during the wait; in iterative programs these mostly belong to the next
// step.
bool PointToPoint::is_wrong_order(const Wait& wait) const {
  const MpiCall& call = job_.calls[CallIndex(wait.call)];
  const std::int64_t sent_ns = wait.t_start_ns + wait.ns;
  const auto later =
      std::upper_bound(received_.begin(), received_.end(), call.start_ns,
                       [](std::int64_t ns, const Received& one) { return ns < one.completing_ns; });
  const auto end = later + std::min<std::ptrdiff_t>(kLaterReceives, received_.end() - later);
  return std::any_of(later, end, [&](const Received& one) {
    const bool was_there = one.source == wait.cause_process
                               ? one.sent_ns < sent_ns
                               : one.sent_ns + one.margin_ns < call.start_ns;
    return was_there && one.lane == call.lane && one.comm == call.comm && one.posted_ns > sent_ns;
  });
}

void PointToPoint::find_wrong_order() {
  std::stable_sort(received_.begin(), received_.end(), [](const Received& a, const Received& b) {
    return a.completing_ns < b.completing_ns;
  });
  for (Wait& wait : rows_) {
    if (wait.kind != WaitKind::late_sender || wait.unknown != WaitUnknown::none) continue;
    if (is_wrong_order(wait)) wait.kind = WaitKind::wrong_order;
  }
}

std::vector<Wait> PointToPoint::finish() {
  find_wrong_order();
  // A probe waited for the message that came first.
  rows_.insert(rows_.end(), of_probes_.begin(), of_probes_.end());
  return std::move(rows_);
}

}  // namespace uctrace::merge
