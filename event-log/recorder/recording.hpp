// When events are recorded: always, or between switches that the user chose (`record --start-on,
// --stop-on`; docs/windows.md). Definitions and counters go on meanwhile.
//
// The process has one state. A lane follows it at its next event and writes a RecordingSwitch with
// its counts so far. So the events that a lane recorded between two switches are exactly those it
// counted between them, without a lock and whatever other threads do.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event-log/format/kinds.hpp"
#include "event-log/recorder/own.hpp"

namespace uctrace::log {

struct Lane;

namespace detail {
// Number of the switch << 4 | SwitchCause << 1 | whether events are recorded. Never 0.
// The wrappers of MPI, which are in C, use its other name.
UCTRACE_OWN extern std::uint64_t recording_state __asm__("uctrace_recording_state");
}  // namespace detail

inline constexpr std::uint64_t kRecordingOn = 1;  // of the state

inline std::uint64_t recording_state() {
  return __atomic_load_n(&detail::recording_state, __ATOMIC_RELAXED);
}

// The parts of start() and finish() that concern recording on demand. Conditions are read before
// the first lane exists. Signals are watched as soon as there is a log that can report the outcome.
void read_recording_conditions();
void begin_recording(Lane& lane);
void watch_recording_signals();
void end_recording();

// Has the function called after each switch, on whatever thread, also in a signal handler.
void tell_switches_to(void (*listener)());

// MPI_Pcontrol was called. Does nothing unless a condition names it.
void switch_recording_by_level(std::int32_t level);

// --- conditions: UCTRACE_START_ON and UCTRACE_STOP_ON hold some, separated by commas -------------

// For each of the two.
inline constexpr std::size_t kMostConditions = 16;

struct RecordingSignal {
  std::string_view name;
  int number;
};
// Signals that a program can do without. Without a watcher all but the first two are ignored by
// default.
inline constexpr RecordingSignal kRecordingSignals[] = {
    {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"URG", SIGURG}, {"WINCH", SIGWINCH}, {"CONT", SIGCONT}};

struct RecordingCondition {
  SwitchCause cause = SwitchCause::start;  // `start` = no condition
  bool any_level = false;                  // as in the MPI standard: not 0 to start, 0 to stop
  std::int32_t value = 0;                  // level or signal
};

// Removes `prefix` if it is there. Avoids string_view's own functions, which could throw.
constexpr bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.size() < prefix.size() || std::string_view(text.data(), prefix.size()) != prefix) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// Calls the body for each condition of a list, without functions of string_view that could throw.
template <typename Body>
void each_recording_condition(std::string_view list, Body body) {
  while (!list.empty()) {
    std::size_t length = 0;
    while (length < list.size() && list[length] != ',') ++length;
    body(std::string_view(list.data(), length));
    list.remove_prefix(length < list.size() ? length + 1 : length);
  }
}

// "pcontrol", "pcontrol:LEVEL" or "signal:NAME".
constexpr RecordingCondition parse_recording_condition(std::string_view text) {
  if (text == "pcontrol") {
    return {SwitchCause::pcontrol, true, 0};
  }
  if (take_prefix(text, "signal:")) {
    take_prefix(text, "SIG");
    for (const RecordingSignal& signal : kRecordingSignals) {
      if (text == signal.name) {
        return {SwitchCause::signal, false, signal.number};
      }
    }
    return {};
  }
  if (!take_prefix(text, "pcontrol:")) {
    return {};
  }
  const bool negative = take_prefix(text, "-");
  std::int64_t level = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || level > INT32_MAX) {
      return {};
    }
    level = level * 10 + (c - '0');
  }
  if (text.empty() || level > INT32_MAX) {
    return {};
  }
  return {SwitchCause::pcontrol, false, static_cast<std::int32_t>(negative ? -level : level)};
}

}  // namespace uctrace::log
