#include "event-log/recorder/recording.hpp"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/recorder.hpp"
#include "event-log/recorder/recorder_parts.hpp"

namespace uctrace::log {

namespace {

constexpr unsigned kCauseShift = 1, kNumberShift = 4;
constexpr std::uint64_t kAlwaysOn = std::uint64_t{1} << kNumberShift | kRecordingOn;

bool is_on(std::uint64_t state) { return (state & kRecordingOn) != 0; }

std::uint64_t state_of(std::uint64_t number, SwitchCause cause, bool on) {
  return number << kNumberShift | static_cast<std::uint64_t>(cause) << kCauseShift |
         static_cast<std::uint64_t>(on);
}

// The conditions that switch recording in one direction.
struct Conditions {
  RecordingCondition list[kMostConditions];
  std::size_t count;
};

struct Variable {
  const char* name;
  const char* option;
};
constexpr Variable kVariables[] = {{"UCTRACE_STOP_ON", "--stop-on"},
                                   {"UCTRACE_START_ON", "--start-on"}};

constinit Conditions conditions[2]{};  // by whether they switch it on
constinit std::atomic<std::uint64_t> asked_tick{0};
constinit std::atomic<void (*)()> listener{nullptr};

// If only counters are kept, events are never switched on.
bool on_demand() { return conditions[0].count + conditions[1].count != 0 || counts_only(); }

bool holds(const RecordingCondition& condition, bool on, SwitchCause cause, std::int32_t value) {
  if (condition.cause != cause) {
    return false;
  }
  return condition.any_level ? (value != 0) == on : condition.value == value;
}

bool any_holds(bool on, SwitchCause cause, std::int32_t value) {
  const Conditions& those = conditions[on ? 1 : 0];
  for (std::size_t i = 0; i < those.count; ++i) {
    if (holds(those.list[i], on, cause, value)) {
      return true;
    }
  }
  return false;
}

// Several threads may switch at once: the one that tells last has seen the newest state.
void tell_of_switch() {
  std::uint64_t told;
  do {
    told = __atomic_load_n(&detail::recording_state, __ATOMIC_SEQ_CST);
    set_leaves_out(!is_on(told));
    if (auto* tell = listener.load(std::memory_order_acquire)) tell();
  } while (__atomic_load_n(&detail::recording_state, __ATOMIC_SEQ_CST) != told);
}

// Switches the process if the user's conditions say so. Safe in a signal handler.
bool switch_recording(SwitchCause cause, std::int32_t value) {
  std::uint64_t before = __atomic_load_n(&detail::recording_state, __ATOMIC_ACQUIRE);
  for (;;) {
    const bool on = !is_on(before);
    if (!any_holds(on, cause, value)) {
      return false;
    }
    asked_tick.store(now(), std::memory_order_relaxed);
    const std::uint64_t after = state_of((before >> kNumberShift) + 1, cause, on);
    if (__atomic_compare_exchange_n(&detail::recording_state, &before, after, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
      tell_of_switch();
      return true;
    }
  }
}

// By signal number: handlers that were ours when the log began, and signals that reached our
// handler.
constinit bool watched[64]{}, seen[64]{};

// In a fork child without a log the signal has its default effect.
void on_signal(int signal) {
  const int saved_errno = errno;
  __atomic_store_n(&seen[signal], true, __ATOMIC_RELAXED);
  if (log_number() == 0 && !has_ended()) {
    struct sigaction original {};
    original.sa_handler = SIG_DFL;
    sigaction(signal, &original, nullptr);
    raise(signal);
  } else {
    switch_recording(SwitchCause::signal, signal);
  }
  errno = saved_errno;
}

void copy(const LiveCounters& from, LaneCounters& to) {
  const auto* counter = reinterpret_cast<const Counter*>(&from);
  auto* number = reinterpret_cast<std::uint64_t*>(&to);
  for (std::size_t i = 0; i < sizeof to / sizeof *number; ++i) {
    number[i] = counter[i];
  }
}

// False: there was no room. The switch is not lost: the lane stays as it is and tries again.
bool record_switch(Lane& lane, std::uint64_t state, bool first) {
  auto* record = lane.define<RecordingSwitch>(0, DropKind::uncounted);
  if (record == nullptr) {
    return false;
  }
  record->tick = now();
  // Read again with acquire, so that the tick is no older than `state`.
  __atomic_load_n(&detail::recording_state, __ATOMIC_ACQUIRE);
  record->asked_tick = asked_tick.load(std::memory_order_relaxed);
  if (!first) {
    copy(lane.counters(), record->counters);
  }
  const auto cause = static_cast<unsigned>(state >> kCauseShift & 7);
  publish(record, RecordType::recording_switch, sizeof *record / 8,
          static_cast<std::uint16_t>((is_on(state) ? RecordingSwitch::kOn : 0u) | cause << 8),
          static_cast<std::uint32_t>(state >> kNumberShift));
  return true;
}

// A signal handler in between may have followed a later state: its number is higher.
void follow(Lane& lane, std::uint64_t state, bool first) {
  if (lane.recording_seen < state && record_switch(lane, state, first)) {
    lane.recording_seen = state;
    lane.recording = is_on(state) ? state : 0;
  }
}

// Whether the lane has neither recorded nor left out anything yet.
bool is_fresh(Lane& lane) {
  if (lane.recording_seen != 0) {
    return false;
  }
  std::uint64_t left_out = 0;
  for (const Counter& count : lane.counters().outside_window) {
    left_out += count;
  }
  return left_out == 0;
}

std::string_view list_of(bool on) {
  const char* list = getenv(kVariables[on ? 1 : 0].name);
  return list != nullptr ? list : "";
}

void read_conditions(bool on) {
  Conditions& those = conditions[on ? 1 : 0];
  those.count = 0;
  each_recording_condition(list_of(on), [&](std::string_view text) {
    const RecordingCondition condition = parse_recording_condition(text);
    if (condition.cause != SwitchCause::start && those.count < kMostConditions) {
      those.list[those.count++] = condition;
    }
  });
}

void say_unused(const Variable& variable, std::string_view text, const char* why) {
  char detail[256];
  snprintf(detail, sizeof detail, "%s %.*s%s", variable.option,
           static_cast<int>(text.size() < 128 ? text.size() : 128), text.data(), why);
  fault(Layer::mpi, FaultCode::unknown_condition, 0, detail);
}

// Conditions that were not understood or did not fit are reported once there is a log.
void define_conditions(bool on) {
  const Variable& variable = kVariables[on ? 1 : 0];
  const std::string_view list = list_of(on);
  if (!list.empty()) {
    define_text(TextKind::recording_when, on ? 1 : 0, list.data(), list.size());
  }
  std::size_t understood = 0;
  each_recording_condition(list, [&](std::string_view text) {
    if (parse_recording_condition(text).cause == SwitchCause::start) {
      say_unused(variable, text, "");
    } else if (++understood > kMostConditions) {
      say_unused(variable, text, " (one too many)");
    }
  });
}

template <typename Body>
void each_signal(Body body) {
  for (const RecordingSignal& signal : kRecordingSignals) {
    if (any_holds(true, SwitchCause::signal, signal.number) ||
        any_holds(false, SwitchCause::signal, signal.number)) {
      body(signal);
    }
  }
}

void say_taken(const RecordingSignal& signal, const char* when) {
  char detail[128];
  snprintf(detail, sizeof detail, "SIG%.*s is the program's own (%s): it does not switch recording",
           static_cast<int>(signal.name.size()), signal.name.data(), when);
  fault(Layer::mpi, FaultCode::signal_taken, signal.number, detail);
}

}  // namespace

namespace detail {
constinit std::uint64_t recording_state = kAlwaysOn;
}  // namespace detail

void read_recording_conditions() {
  if (!counts_only()) {
    read_conditions(true);
    read_conditions(false);
  }
  asked_tick.store(now(), std::memory_order_relaxed);
  // If the user starts recording by hand, it is off before.
  __atomic_store_n(&detail::recording_state,
                   state_of(1, SwitchCause::start, conditions[1].count == 0 && !counts_only()),
                   __ATOMIC_RELEASE);
  tell_of_switch();
}

void tell_switches_to(void (*told)()) { listener.store(told, std::memory_order_release); }

void begin_recording(Lane& lane) {
  lane.recording_seen = on_demand() ? 0 : kAlwaysOn;
  lane.recording = lane.recording_seen;
}

// If the program has already set a handler, or ignores the signal, that wins.
void watch_recording_signals() {
  define_conditions(true);
  define_conditions(false);
  each_signal([](const RecordingSignal& signal) {
    struct sigaction before {
    }, ours{};
    ours.sa_handler = on_signal;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(signal.number, nullptr, &before);
    watched[signal.number] = (before.sa_flags & SA_SIGINFO) == 0 &&
                             (before.sa_handler == SIG_DFL || before.sa_handler == on_signal) &&
                             sigaction(signal.number, &ours, nullptr) == 0;
    if (!watched[signal.number]) {
      say_taken(signal, "set before uctrace came");
    }
  });
}

// Also if the program set a handler later, unless that one passed a signal on to ours.
void end_recording() {
  each_signal([](const RecordingSignal& signal) {
    struct sigaction current {};
    if (watched[signal.number] && !__atomic_load_n(&seen[signal.number], __ATOMIC_RELAXED) &&
        sigaction(signal.number, nullptr, &current) == 0 && current.sa_handler != on_signal) {
      say_taken(signal, "set while it ran");
    }
  });
}

void switch_recording_by_level(std::int32_t level) {
  if (!on_demand() || !switch_recording(SwitchCause::pcontrol, level)) {
    return;
  }
  // This thread is between two events: no event is in progress.
  if (Lane* mine = lane()) {
    follow(*mine, recording_state(), is_fresh(*mine));
  }
}

bool Lane::follow_recording(DropKind kind) {
  const std::uint64_t state = log::recording_state();
  const bool first = is_fresh(*this);
  bool records = recording != 0;
  if (first) {
    follow(*this, state, true);  // the counters do not include the current event
    records = recording != 0;
  }
  if (!records) leave_out(kind);
  if (!first) {
    follow(*this, state, false);
  }
  return records;
}

}  // namespace uctrace::log
