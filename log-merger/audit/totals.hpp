// The two independent counts that the identities compare: by the shims in the job, and by the
// merger from the records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "event-log/format/file_layout.hpp"
#include "log-merger/audit/counted_transports.hpp"
#include "log-merger/audit/port_totals.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/model/drop_words.hpp"
#include "log-merger/model/network_cards.hpp"

namespace uctrace::merge {

struct SendTotals {
  std::uint64_t matched = 0, ambiguous = 0, unmatched = 0, failed = 0;
  std::uint64_t inferred = 0;  // those of `matched` that are not exact
  std::uint64_t outside = 0;   // their receives may not have been recorded, by the user's choice
  std::uint64_t all() const { return matched + ambiguous + unmatched + failed + outside; }
  SendTotals& operator+=(const SendTotals& more);
  SendTotals& operator-=(const SendTotals& less);
};
struct ReceiveTotals {
  std::uint64_t matched = 0, ambiguous = 0, unmatched = 0, failed = 0, outstanding = 0;
  std::uint64_t outside = 0;  // their sends may not have been recorded
  std::uint64_t took() const { return matched + ambiguous + unmatched + outside; }
};
struct StreamTotals {
  std::uint64_t received_bytes = 0;  // by receives whose sending end is in the logs
  std::uint64_t taken_bytes = 0;     // of sends, by a receive that is known
  std::uint64_t unread_bytes = 0;    // of sends: not received until the end
};
// Operations by how their end is known: at return, by a completion record, later, or not at all.
struct EndTotals {
  std::uint64_t ended = 0, outstanding = 0, implicit = 0;
};
struct LinkTotals {
  std::uint64_t exact = 0, inferred = 0, ambiguous = 0, none = 0;
};

// From the records.
struct Found {
  std::uint64_t uct_operations = 0, ucp_operations = 0, mpi_calls = 0, arrivals = 0;
  std::uint64_t refused_uct_operations = 0;  // in the log, but UCT did not accept them
  // UCT operations whose protocol libucp told, by name; and those for which it could have.
  std::uint64_t protocols_told = 0, protocols_untold = 0;
  std::uint64_t events = 0;       // in the logs
  std::uint64_t used_events = 0;  // that are part of the merged run
  std::uint64_t ucp_ended = 0;    // UCP operations that a completion record ended
  std::uint64_t attributed = 0, unattributed = 0, unattributed_with_payload = 0, outstanding = 0;
  std::map<std::string, std::uint64_t> reasons;
  std::uint64_t uct_ends_of_outside = 0, ucp_ends_of_outside = 0;  // of operations that began in no
                                                                   // window
  std::uint64_t posted_receives = 0;                               // that interfaces still have
  PendingTotals pending;
  // Slots of the interfaces' tables; left_out: hooks that the user excluded.
  std::uint64_t slots_offered = 0, slots_hooked = 0, left_out = 0;
  SendTotals sends, am_sends, stream_sends;
  SendTotals one_sided;  // matched = its target is known
  ReceiveTotals receives, am_receives, stream_receives;
  SendTotals tool_sends;  // of uctrace itself; included in the others, like these receives
  ReceiveTotals tool_receives;
  StreamTotals streams;
  std::map<log::UcpFamily, EndTotals> ends;  // accepted operations
  LinkTotals uct_ucp, uct_mpi;
  LinkTotals with_payload;         // the part of uct_ucp that carries data
  std::uint64_t memory_words = 0;  // stored with operations
  std::uint64_t library_calls = 0;
  // Registration calls; deregistrations, and those of a known registration.
  std::uint64_t memory_calls = 0, registered_bytes = 0, deregistrations = 0,
                ended_registrations = 0;
  std::vector<NetworkCard> network_cards;
  PortChecks ports;
  CountedTransports counted_transports;
  std::uint64_t delivered_bytes = 0, covered_bytes = 0, messages_not_covered = 0;
};
Found count_found(const Job& job);

// From the counters of all processes: for the whole run, and for the part that was to be recorded.
log::LaneCounters count_counted(const Job& job);
log::LaneCounters count_recorded(const Job& job);
std::uint64_t total_dropped(const Job& job);
DropCounts total_dropped_by_cause(const Job& job);
std::uint64_t total_overwritten(const Job& job);
std::uint64_t total_outside(const Job& job);  // of the windows that the user wanted

// Nothing is missing: every rank has a complete log that was closed properly.
bool job_complete(const Job& job);

// The logs may be complete and still lack the use of some library: its calls bypassed uctrace (this
// code), or its version is not known.
bool was_bypassed(const ProcessLog& log, log::FaultCode bypassed);
bool misses_libraries(const Job& job);

}  // namespace uctrace::merge
