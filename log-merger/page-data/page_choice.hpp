// Which operations the page has in detail: as many as a limit allows, from the start of the span on
// and without a gap. So at any instant the page has all operations, or says that it does not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/time_slabs.hpp"
#include "log-merger/summaries/time_window.hpp"
#include "log-merger/summaries/traffic_tables.hpp"

namespace uctrace {

inline constexpr std::size_t kDetailTables = static_cast<std::size_t>(RowsOf::messages) + 1;

// Keeps the rows that may be chosen, of those that it visits: at most twice the limit.
class DetailChoice final : public RowVisitor {
 public:
  DetailChoice(const TimeWindow& window, std::uint64_t limit) : window_(window), limit_(limit) {}

  void visit(const Message& row, std::size_t number) override { note(row, number); }
  void visit(const Transfer& row, std::size_t number) override { note(row, number); }
  void visit(const UcpOperationRow& row, std::size_t number) override { note(row, number); }
  void visit(const MpiCallRow& row, std::size_t number) override { note(row, number); }

  // Rows by their numbers, in the order of process, then start: the page searches in this order.
  using Numbers = std::vector<std::size_t>;
  struct Chosen {
    std::uint64_t events = 0;  // events that could be chosen
    std::int64_t to_ns = 0;    // everything that begins before is chosen
    std::array<Numbers, kDetailTables> rows;

    const Numbers& of(RowsOf table) const { return rows[static_cast<std::size_t>(table)]; }
  };
  Chosen finish();

 private:
  struct Candidate {
    std::int64_t start_ns;
    std::size_t number;
    std::uint32_t process;
    RowsOf table;
  };
  template <typename Row>
  void note(const Row& row, std::size_t number) {
    const std::int64_t start = start_of(row);
    if (!window_.overlaps(start, end_or(last_of(row), window_.to_ns))) return;
    std::uint32_t process = 0;  // messages have none: they are in the order of time alone
    if constexpr (requires { row.process; }) process = row.process;
    add({start, number, process, table_of(row)});
  }
  void add(const Candidate& candidate);
  void keep_first();

  const TimeWindow window_;
  const std::uint64_t limit_;
  std::uint64_t events_ = 0;
  std::vector<Candidate> candidates_;
};

// The same choice from all rows of a run that keeps its traffic (traffic_tables.hpp): `slabs` show
// when the chosen rows end, and only blocks of rows that begin before then are read.
DetailChoice::Chosen choose_by_slabs(const RowSource& source, const TimeWindow& window,
                                     const SlabTables& slabs, std::uint64_t limit);

}  // namespace uctrace
