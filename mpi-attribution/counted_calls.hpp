// What MPI calls mean for the counters (event-log/recorder/counters.hpp): messages by peer, data of
// one-sided and collective calls, calls by function. Each is called once the call has returned.
#pragma once

#include "event-log/recorder/counters.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

// What a function is to the counters.
enum class CountedAs : std::uint8_t {
  other,
  send,        // sends one message, also as a half of an exchange
  persistent,  // makes a request that sends one each time that it is started
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

// At the first call of a function. Its number is that of the log.
void note_counted_function(unsigned number, const char* name);

inline CountedAs counted_as(unsigned number) { return detail::counted_as[number]; }

// Before the call: whether what it gives to UCP is the program's message.
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
