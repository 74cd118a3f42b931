// The time span in which traffic is counted, and the times of rows.
#pragma once

#include <cstdint>

#include "log-merger/model/model.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// [from_ns, to_ns) of the job clock; `is_part`: of a longer run.
struct TimeWindow {
  std::int64_t from_ns = 0, to_ns = 0;
  bool is_part = false;

  // Rows without a known time belong only to the whole run, as on the command line.
  bool takes(std::int64_t time_ns) const {
    return time_ns < 0 ? !is_part : time_ns >= from_ns && time_ns < to_ns;
  }
  // Whether an activity from start to end (both >= 0) overlaps this window.
  bool overlaps(std::int64_t start_ns, std::int64_t end_ns) const {
    return start_ns >= 0 && start_ns < to_ns && end_ns >= from_ns;
  }
};

// The whole run up to and including its last instant.
inline TimeWindow whole_window(std::int64_t last_ns) { return {0, last_ns + 1, false}; }

// The end of an operation; the end of the span if not recorded.
inline std::int64_t end_or(std::int64_t end_ns, std::int64_t to_ns) {
  return end_ns < 0 ? to_ns : end_ns;
}
inline std::int64_t end_of(const Transfer& transfer) {
  return transfer.t_complete_ns >= 0 ? transfer.t_complete_ns : transfer.t_end_ns;
}

inline std::int64_t start_of(const MpiCallRow& call) { return call.t_start_ns; }
inline std::int64_t start_of(const UcpOperationRow& row) { return row.t_start_ns; }
inline std::int64_t start_of(const Transfer& transfer) { return transfer.t_start_ns; }
inline std::int64_t start_of(const Message& message) { return time_of(message); }

inline std::int64_t last_of(const MpiCallRow& call) { return call.t_end_ns; }
inline std::int64_t last_of(const UcpOperationRow& row) { return row.t_end_ns; }
inline std::int64_t last_of(const Transfer& transfer) { return end_of(transfer); }
inline std::int64_t last_of(const Message& message) { return message.t_end_ns; }

// What these look at.
template <typename Row>
Wanted<Row> times_of() {
  return {&Row::t_start_ns, &Row::t_end_ns};
}
template <>
inline Wanted<Message> times_of() {
  return {&Message::t_start_ns, &Message::t_end_ns, &Message::t_posted_recv_ns};
}
template <>
inline Wanted<Transfer> times_of() {
  return {&Transfer::t_start_ns, &Transfer::t_end_ns, &Transfer::t_complete_ns};
}

constexpr RowsOf table_of(const MpiCallRow&) { return RowsOf::mpi_calls; }
constexpr RowsOf table_of(const UcpOperationRow&) { return RowsOf::ucp_operations; }
constexpr RowsOf table_of(const Transfer&) { return RowsOf::transfers; }
constexpr RowsOf table_of(const Message&) { return RowsOf::messages; }

}  // namespace uctrace
