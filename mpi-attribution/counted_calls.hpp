// Counts MPI calls (event-log/recorder/counters.hpp): messages by peer, data of one-sided and
// collective calls, calls by function. Used after a call has returned.
#pragma once

#include "event-log/recorder/counters.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

// How a function is counted.
enum class CountedAs : std::uint8_t {
  other,
  send,        // sends one message, also as half of an exchange
  persistent,  // makes a request that sends one each time it is started
  start,
  free_request,
  put,
  get,
  fetch,  // both
};

namespace detail {
inline constexpr std::size_t kMostFunctions = 1024;
UCTRACE_OWN extern constinit CountedAs counted_as[kMostFunctions];
}  // namespace detail

// At the first call of a function. The number is that of the log.
void note_counted_function(unsigned number, const char* name);

inline CountedAs counted_as(unsigned number) { return detail::counted_as[number]; }

// Before the call: notes whether its UCP operation is the program's message.
inline void begin_counting(unsigned number) {
  const CountedAs as = counted_as(number);
  log::programs_send = as == CountedAs::send || as == CountedAs::start;
}

void count_call(const UctraceCall& call);
// `peer` as the log has it: negative, there is none.
void count_message(const UctraceMessage& message, std::int32_t peer);
void count_exchange(const UctraceExchange& exchange, std::int32_t peer);
void count_started(const UctraceRequests& requests);
void count_collective(const UctraceCollective& collective);

}  // namespace uctrace::mpi
