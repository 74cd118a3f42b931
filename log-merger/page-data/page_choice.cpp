#include "log-merger/page-data/page_choice.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>

#include "event-log/reader/error.hpp"

namespace uctrace {

// The first row beyond the limit marks where the details end.
void DetailChoice::keep_first() {
  if (candidates_.size() <= limit_) return;
  const auto beyond = candidates_.begin() + static_cast<std::ptrdiff_t>(limit_);
  std::nth_element(candidates_.begin(), beyond, candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.start_ns < b.start_ns; });
  candidates_.erase(beyond + 1, candidates_.end());
}

void DetailChoice::add(const Candidate& candidate) {
  constexpr std::size_t kAtLeast = 4096;
  ++events_;
  candidates_.push_back(candidate);
  if (candidates_.size() > kAtLeast && candidates_.size() / 2 > limit_) keep_first();
}

DetailChoice::Chosen DetailChoice::finish() {
  keep_first();
  Chosen chosen{.events = events_, .to_ns = window_.to_ns, .rows = {}};
  if (candidates_.size() > limit_) {
    chosen.to_ns = candidates_.back().start_ns;
    std::erase_if(candidates_,
                  [&](const Candidate& candidate) { return candidate.start_ns >= chosen.to_ns; });
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.process, a.start_ns, a.number) < std::tie(b.process, b.start_ns, b.number);
  });
  for (const Candidate& candidate : candidates_) {
    chosen.rows[static_cast<std::size_t>(candidate.table)].push_back(candidate.number);
  }
  candidates_ = {};
  return chosen;
}

namespace {

// Operations and messages that begin, by slab.
std::vector<std::uint64_t> starts_of(const SlabTables& slabs) {
  std::vector<std::uint64_t> starts(slabs.axis.slabs);
  const auto of = [&](std::uint32_t slab) -> std::uint64_t& {
    return starts[std::min(slab, slabs.axis.slabs - 1)];
  };
  for (const CellSlab& row : slabs.cell_slabs) of(row.slab) += row.messages;
  for (const SlabActivity& row : slabs.slab_activity) of(row.slab) += row.starts;
  return starts;
}

// A store may claim anything: no row is visited twice, and each block has few rows.
void require_order(const RowBlock& block, std::array<std::uint64_t, kDetailTables>& behind) {
  std::uint64_t& first = behind[static_cast<std::size_t>(block.of)];
  if (block.first_row < first || block.rows > kRowsAtOnce) {
    throw Error({.what = "cannot make the page",
                 .why = "blocks of rows in the store overlap, or are longer than any can be",
                 .to_do = "merge the logs again with `uctrace merge`"});
  }
  first = block.first_row + block.rows;
}

template <typename Row>
void visit_block(const RowSource& source, const RowBlock& block, DetailChoice& choice) {
  Wanted<Row> wanted(&Row::t_start_ns);
  if constexpr (std::is_same_v<Row, Message>) {
    wanted |= Wanted<Row>(&Row::t_end_ns, &Row::t_posted_recv_ns);
  } else {
    wanted |= Wanted<Row>(&Row::process);
  }
  const TableReader<Row>& table = source.table<Row>();
  const std::size_t first = std::min<std::size_t>(block.first_row, table.count());
  const std::size_t end = first + std::min<std::size_t>(block.rows, table.count() - first);
  std::vector<Row> buffer;
  std::size_t number = first;
  for (const Row& row : table.read(first, end, wanted, buffer)) choice.visit(row, number++);
}

}  // namespace

DetailChoice::Chosen choose_by_slabs(const RowSource& source, const TimeWindow& window,
                                     const SlabTables& slabs, std::uint64_t limit) {
  const std::vector<std::uint64_t> starts = starts_of(slabs);
  std::uint64_t events = 0;
  std::int64_t until_ns = window.to_ns;  // more begin before than may be chosen
  for (std::size_t slab = 0; slab < starts.size(); ++slab) {
    const bool had_enough = events > limit;
    events += starts[slab];
    if (events > limit && !had_enough) {
      until_ns = slabs.axis.from_ns + slabs.axis.slab_ns * static_cast<std::int64_t>(slab + 1);
    }
  }
  DetailChoice choice({window.from_ns, std::min(until_ns, window.to_ns), false}, limit);
  std::array<std::uint64_t, kDetailTables> behind{};  // by table
  for_each_row(source, Wanted<RowBlock>::all(), [&](const RowBlock& block, std::size_t) {
    require_order(block, behind);
    if (block.first_start_ns < 0 || block.first_start_ns >= until_ns) return;
    switch (block.of) {
      case RowsOf::mpi_calls:
        return visit_block<MpiCallRow>(source, block, choice);
      case RowsOf::ucp_operations:
        return visit_block<UcpOperationRow>(source, block, choice);
      case RowsOf::transfers:
        return visit_block<Transfer>(source, block, choice);
      case RowsOf::messages:
        return visit_block<Message>(source, block, choice);
    }
  });
  DetailChoice::Chosen chosen = choice.finish();
  chosen.events = events;
  return chosen;
}

}  // namespace uctrace
