#include "tests/tracegen/process_run.hpp"

#include <algorithm>

#include "tests/tracegen/clock_traffic.hpp"
#include "tests/tracegen/one_sided.hpp"

namespace uctrace::tracegen {

// MPI_Pcontrol is called by the first thread, between two steps.
void ProcessRun::switch_recording(bool on, log::SwitchCause cause, std::int64_t at_ns) {
  recording_ = {recording_.number + 1, on, cause, at_ns};
  for (std::uint16_t lane = 0; lane < log_.lanes(); ++lane) {
    log_.lane(lane).switch_recording(recording_);
  }
  if (cause == log::SwitchCause::pcontrol) log_.lane(0).follow_recording(at_ns);
}

std::int64_t ProcessRun::run() {
  constexpr std::int64_t kSwitchNs = 500;  // before a step begins
  const bool on_demand = !shape_.options().windows.empty();
  if (on_demand) {
    switch_recording(is_recorded(shape_, log_.rank(), 0), log::SwitchCause::start,
                     when::begin_of(shape_, log_.rank()).init_ns);
  }
  log_.define_process();
  measure_clocks(log_, log::ClockSample::at_start, when::clocks(shape_));
  make_partitioned();
  make_persistent();
  Steps steps(shape_, plan_.begin_ns);
  const auto [drop_from, drop_to] = dropped_steps(shape_, plan_, log_.rank());
  std::int64_t end_ns = plan_.begin_ns;
  for (std::uint64_t i = 0; i < plan_.steps; ++i) {
    const bool dropping = drop_from <= i && i < drop_to;
    for (std::uint16_t l = 0; l < log_.lanes(); ++l) log_.lane(l).set_dropping(dropping);
    const Step& step = steps.next();
    log_.begin_step(step.begin_ns);
    if (on_demand && is_recorded(shape_, log_.rank(), i) != recording_.on) {
      switch_recording(!recording_.on, log::SwitchCause::pcontrol, step.begin_ns - kSwitchNs);
    }
    run_step(step);
    end_ns = step.end_ns();
  }
  for (std::uint16_t lane = 0; lane < log_.lanes(); ++lane) log_.lane(lane).set_dropping(false);
  free_persistent(end_ns + 1000);
  const std::int64_t closing = end_ns + 100'000;
  log_.lane(0).mpi(static_cast<std::uint16_t>(MpiFunction::win_free), closing, closing + 2000,
                   handle::kWindow, {}, log::RecordType::mpi_window_call);
  log_.define_end_of_window(closing + 2000);
  const std::int64_t finalize = closing + 10'000;
  if (shape_.options().fault_of(log_.rank(), Fault::Kind::unclosed) != nullptr) {
    log::CurrentCall in{};
    in.head.type = log::RecordType::mpi_call;
    in.head.a = static_cast<std::uint16_t>(MpiFunction::finalize);
    in.start_tick = log_.lane(0).tick(finalize);
    in.peer = in.tag = log::MpiCall::kNone;
    log_.lane(0).set_in_call(in);
    return finalize + 1000;
  }
  log_.begin_step(finalize);
  const std::int64_t measured = measure_clocks(log_, log::ClockSample::at_end, finalize + 10'000);
  log_.lane(0).mpi(static_cast<std::uint16_t>(MpiFunction::finalize), finalize, measured + 10'000,
                   0);
  return measured + 20'000;
}

void ProcessRun::call(std::uint16_t lane, MpiFunction function, std::int64_t begin_ns,
                      std::int64_t end_ns, std::uint64_t scope, const MpiParts& parts,
                      log::RecordType type) {
  log_.lane(lane).mpi(static_cast<std::uint16_t>(function), begin_ns, end_ns, scope, parts, type);
}

MpiParts ProcessRun::message_parts(const Step& step, std::int32_t peer, const Message& m) const {
  MpiParts parts;
  parts.has_peer = parts.has_volume = true;
  parts.peer = peer < 0 ? peer : shape_.local_rank(step.comm, peer);
  parts.tag = m.mpi_tag;
  parts.bytes = m.bytes;
  parts.datatype = m.bytes % 8 != 0    ? handle::kByte
                   : m.serial % 3 == 0 ? handle::kRow
                                       : handle::kDouble;
  return parts;
}

// --- steps ---------------------------------------------------------------------------------------

void ProcessRun::run_step(const Step& step) {
  const std::uint16_t lanes = step.is_threaded() ? log_.lanes() : std::uint16_t{1};
  for (std::uint16_t lane = 0; lane < lanes; ++lane) {
    switch (step.kind) {
      case StepKind::nonblocking:
      case StepKind::wildcard:
      case StepKind::shared_tag:
        at_once(step, lane);
        break;
      case StepKind::persistent:
        persistent(step, lane);
        break;
      case StepKind::partitioned:
        partitioned(step, lane);
        break;
      case StepKind::sendrecv:
        for (std::uint32_t w = 0; w < step.windows; ++w) sendrecv(step, w, lane);
        break;
      case StepKind::blocking:
      case StepKind::probe:
        for (std::uint32_t w = 0; w < step.windows; ++w) blocking(step, w, lane);
        break;
      case StepKind::collective:
      case StepKind::icollective:
        collective(step);
        break;
      case StepKind::file:
        file(step);
        break;
      case StepKind::cancel:
        cancel(step, lane);
        break;
      case StepKind::rma:
        one_sided_step(log_, step);
        break;
      case StepKind::am:
      case StepKind::am_shared:
      case StepKind::connected:
        active_step(log_, step, lane);
        break;
      case StepKind::stream:
        stream_step(log_, step);
        break;
      case StepKind::kCount:
        break;
    }
  }
}

// The messages of a lane that are in flight at once.
void ProcessRun::fill_window(const Step& step, std::uint32_t window, std::uint16_t lane) {
  window_.senders.clear();
  window_.receivers.clear();
  const bool one = !step.at_once();
  const std::uint32_t only = window % step.windows_of_call();
  const std::uint32_t first = one ? only : 0, last = one ? only + 1 : step.slots;
  const auto repeats = static_cast<std::uint32_t>(one ? 1 : shape_.options().burst);
  for (std::uint32_t slot = first; slot < last; ++slot) {
    const Neighbours with = partners(shape_, step, slot, log_.rank());
    for (std::uint32_t i = 0; i < repeats; ++i) {
      if (with.to >= 0) {
        window_.senders.emplace_back(
            log_, step, message_of(shape_, step, window, slot, i, log_.rank(), with.to, lane));
      }
      if (with.from >= 0) {
        window_.receivers.emplace_back(
            log_, step, message_of(shape_, step, window, slot, i, with.from, log_.rank(), lane));
      }
    }
  }
}

void ProcessRun::post_receives(const Calls& calls) {
  for (Receiver& receiver : window_.receivers) receiver.post(calls);
}

// The parts of a window in which messages arrive and are answered.
void ProcessRun::replies(const Step& step, const Calls& calls, int first, int last) {
  for (int part = first; part <= last; ++part) {
    for (Receiver& receiver : window_.receivers) {
      if (part > 0) {
        receiver.reply(part);
      } else if (!receives_late(step)) {
        receiver.arrive();
        receiver.take(calls);
      }
    }
    for (Sender& sender : window_.senders) sender.reply(part);
  }
}

void ProcessRun::tell_truth(const Calls& calls) {
  for (Sender& sender : window_.senders) sender.tell_truth(calls);
  for (Receiver& receiver : window_.receivers) receiver.tell_lost_sender(calls);
}

void ProcessRun::at_once(const Step& step, std::uint16_t lane) {
  fill_window(step, 0, lane);
  const Calls calls = calls_of(shape_, step);
  const std::uint64_t comm = shape_.comm_handle(step.comm);
  const bool late = receives_late(step), any = step.kind == StepKind::wildcard;
  const std::int64_t before = calls.shares_time ? 0 : 30;
  std::vector<std::uint64_t> requests;
  const auto receive_call = [&](const Message& m, std::int64_t at, std::int64_t took) {
    MpiParts parts = message_parts(step, any ? log::MpiCall::kAny : m.src, m);
    parts.request = mpi_request(true, lane, m.slot);
    requests.push_back(parts.request);
    call(lane, calls.receive, at - before, at + took, comm, parts);
  };
  for (Receiver& receiver : window_.receivers) {
    if (late) break;
    receiver.post(calls);
    const Message& m = receiver.message();
    receive_call(m, Times(step, m, log_.rank()).post_receive(), 90);
  }
  for (Sender& sender : window_.senders) {
    const Message& m = sender.message();
    const std::int64_t at = Times(step, m, log_.rank()).send();
    sender.post(calls);
    MpiParts parts = message_parts(step, m.dst, m);
    parts.request = mpi_request(false, lane, m.slot);
    requests.push_back(parts.request);
    const std::int64_t took = m.queued ? step.width / 2 + 100 : posting_ns(m) + 30;
    call(lane, calls.send, at - before, at + took, comm, parts);
  }
  for (Receiver& receiver : window_.receivers) {
    if (!late) break;
    const Message& m = receiver.message();
    receiver.arrive();
    const std::int64_t found = late_receive_ns(step, m);
    MpiParts probe = message_parts(step, m.src, m);
    probe.has_volume = false;
    call(lane, MpiFunction::iprobe, Times(step, m, log_.rank()).receiver(0) - 20, found - 60, comm,
         probe);
    receiver.take(calls);
    receive_call(m, found, 150);
  }
  if (requests.empty()) return;
  const std::int64_t part = step.begin_ns + step.reply_ns[late ? 1 : 0];
  const std::int64_t begin = part - kGapNs / 4 + kLaneNs * lane;
  const std::int64_t end = step.end_ns() - kGapNs / 2 + kLaneNs * lane;
  // The senders' part of the first arrivals is outside any call while late receives are posted.
  log_.lane(lane).mpi_requests(begin, requests);
  replies(step, calls, 0, kLastPart);
  call(lane, MpiFunction::waitall, begin, end, 0);
  tell_truth(calls);
}

void ProcessRun::sendrecv(const Step& step, std::uint32_t window, std::uint16_t lane) {
  fill_window(step, window, lane);
  if (window_.senders.empty() || window_.receivers.empty()) return;
  const Calls calls = calls_of(shape_, step);
  post_receives(calls);
  window_.senders[0].post(calls);
  replies(step, calls, 0, kLastPart);
  const Message &sent = window_.senders[0].message(), &got = window_.receivers[0].message();
  MpiParts parts = message_parts(step, sent.dst, sent);
  const MpiParts other = message_parts(step, got.src, got);
  parts.has_receive = true;
  parts.recv_peer = other.peer;
  parts.recv_tag = other.tag;
  parts.recv_bytes = other.bytes;
  parts.recv_datatype = other.datatype;
  const std::int64_t begin = Times(step, got, log_.rank()).post_receive() - 50;
  call(lane, calls.send, begin, begin + step.window_ns - kGapNs / 2, shape_.comm_handle(step.comm),
       parts);
  tell_truth(calls);
}

void ProcessRun::blocking(const Step& step, std::uint32_t window, std::uint16_t lane) {
  fill_window(step, window, lane);
  const Calls calls = calls_of(shape_, step);
  const std::uint64_t comm = shape_.comm_handle(step.comm);
  const std::int64_t before = calls.shares_time ? 0 : 30;
  for (Sender& sender : window_.senders) {
    const Message& m = sender.message();
    const std::int64_t at = Times(step, m, log_.rank()).send();
    sender.post(calls);
    for (int part = 0; part <= kLastPart; ++part) sender.reply(part);
    const std::int64_t took =
        m.ends_at_return() ? posting_ns(m) + 30 : step.window_ns - step.send_ns - kGapNs;
    call(lane, m.way == Way::sync_bcopy ? MpiFunction::ssend : calls.send, at - before, at + took,
         comm, message_parts(step, m.dst, m));
    Calls told = calls;
    if (m.way == Way::sync_bcopy) told.send = MpiFunction::ssend;
    sender.tell_truth(told);
  }
  for (Receiver& receiver : window_.receivers) {
    const Message& m = receiver.message();
    const bool late = receives_late(step);
    const std::int64_t at =
        late ? late_receive_ns(step, m) : Times(step, m, log_.rank()).post_receive();
    if (!late) receiver.post(calls);
    receiver.arrive();
    if (late) {
      MpiParts probe = message_parts(step, m.src, m);
      probe.has_volume = calls.matched_probe;
      probe.bytes = probe.datatype = 0;
      probe.request = calls.matched_probe ? mpi_request(true, lane, 0) : 0;
      call(lane, calls.matched_probe ? MpiFunction::mprobe : MpiFunction::probe,
           Times(step, m, log_.rank()).receiver(0) - 300, at - 60, comm, probe);
    }
    receiver.take(calls);
    for (int part = 1; part <= kLastPart; ++part) receiver.reply(part);
    MpiParts parts = message_parts(step, m.src, m);
    if (calls.matched_probe) {
      parts.has_peer = false;
      parts.request = mpi_request(true, lane, 0);
    }
    const std::int64_t end = instants_of(shape_, step, m).end_ns;
    call(lane, calls.receive, at - before, std::max(end, at + 130) + 60,
         calls.matched_probe ? 0 : comm, parts);
    receiver.tell_lost_sender(calls);
  }
}

// All rounds of a collective operation are of one call, or of that which begins it and of a wait.
void ProcessRun::collective(const Step& step) {
  const Calls calls = calls_of(shape_, step);
  const bool begun = step.kind == StepKind::icollective;
  const std::uint64_t comm = shape_.comm_handle(step.comm);
  const std::int64_t begin = step.begin_ns + jitter_of(step, log_.rank()) - 100;
  const std::int64_t posted =
      begin + step.send_ns + step.width;  // the first round's sends are posted by then
  const std::int64_t end = step.end_ns() - kGapNs / 2;
  MpiParts parts;
  if (step.collective != Collective::barrier) {
    parts.has_volume = true;
    parts.bytes = step.base_bytes;
    parts.datatype = handle::kByte;
  }
  if (step.collective == Collective::bcast) {
    parts.has_peer = true;
    parts.peer = 0;
  }
  if (begun) parts.request = mpi_request(false, 0, 0xfff);
  std::vector<Window> rounds;
  for (std::uint32_t window = 0; window < step.windows; ++window) {
    fill_window(step, window, 0);
    if (begun) post_receives(calls);
    rounds.push_back(std::move(window_));
  }
  for (std::uint32_t window = 0; window < step.windows; ++window) {
    window_ = std::move(rounds[window]);
    if (!begun) post_receives(calls);
    for (Sender& sender : window_.senders) sender.post(calls);
    if (begun && window == 0) call(0, calls.send, begin, posted, comm, parts);
    replies(step, calls, 0, kLastPart);
    tell_truth(calls);
  }
  if (begun) {
    MpiParts wait;
    wait.request = parts.request;
    call(0, MpiFunction::wait, posted + 100, end, 0, wait);
  } else {
    call(0, calls.send, begin, end, comm, parts);
  }
}

}  // namespace uctrace::tracegen
