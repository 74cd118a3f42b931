// Which operations the page has in detail: as many as a limit allows, from the start of the span on
// and without a gap, so that whoever looks at an instant sees all of it or is told.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/page-data/page_window.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

inline std::int64_t start_of(const MpiCallRow& call) { return call.t_start_ns; }
inline std::int64_t start_of(const UcpOperationRow& row) { return row.t_start_ns; }
inline std::int64_t start_of(const Transfer& transfer) { return transfer.t_start_ns; }
inline std::int64_t start_of(const Message& message) { return time_of(message); }

inline std::int64_t last_of(const MpiCallRow& call) { return call.t_end_ns; }
inline std::int64_t last_of(const UcpOperationRow& row) { return row.t_end_ns; }
inline std::int64_t last_of(const Transfer& transfer) { return end_of(transfer); }
inline std::int64_t last_of(const Message& message) { return message.t_end_ns; }

enum class DetailTable : std::uint8_t { mpi_calls, ucp_operations, transfers, messages };
inline constexpr std::size_t kDetailTables = 4;

constexpr DetailTable table_of(const MpiCallRow&) { return DetailTable::mpi_calls; }
constexpr DetailTable table_of(const UcpOperationRow&) { return DetailTable::ucp_operations; }
constexpr DetailTable table_of(const Transfer&) { return DetailTable::transfers; }
constexpr DetailTable table_of(const Message&) { return DetailTable::messages; }

// Keeps what may be chosen of the rows that it is told of: at most twice the limit.
class DetailChoice {
 public:
  DetailChoice(const PageWindow& window, std::uint64_t limit) : window_(window), limit_(limit) {}

  template <typename Row>
  void note(const Row& row, std::size_t number) {
    const std::int64_t start = start_of(row);
    if (!window_.overlaps(start, end_or(last_of(row), window_.to_ns))) return;
    std::uint32_t process = 0;  // messages have none: they are in the order of time alone
    if constexpr (requires { row.process; }) process = row.process;
    add({start, number, process, table_of(row)});
  }

  // Rows by their numbers, in the order of process, then start: what the page searches by.
  using Numbers = std::vector<std::size_t>;
  struct Chosen {
    std::uint64_t events = 0;  // that there were to choose from
    std::int64_t to_ns = 0;    // everything that begins before is chosen
    std::array<Numbers, kDetailTables> rows;
  };
  Chosen finish();

 private:
  struct Candidate {
    std::int64_t start_ns;
    std::size_t number;
    std::uint32_t process;
    DetailTable table;
  };
  void add(const Candidate& candidate);
  void keep_first();

  const PageWindow window_;
  const std::uint64_t limit_;
  std::uint64_t events_ = 0;
  std::vector<Candidate> candidates_;
};

}  // namespace uctrace
