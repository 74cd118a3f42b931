#include "log-merger/page-data/page_slabs.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <tuple>

#include "log-merger/summaries/filter.hpp"

namespace uctrace {

namespace {

constexpr std::uint32_t kMostSlabs = 4096, kFewestSlabs = 16;
// The page keeps every slab of three layers of each process as a number.
constexpr std::size_t kMostNumbers = 1'600'000;
// Sums for each row of the budget: more of them do not fit it in any case.
constexpr std::size_t kSumsOfRow = 4;

TimeAxis first_axis(const PageWindow& window, std::size_t processes) {
  const std::size_t lanes = 3 * std::max<std::size_t>(1, processes);
  std::uint32_t slabs = kMostSlabs;
  while (slabs > kFewestSlabs && lanes * slabs > kMostNumbers) slabs /= kCoarser;
  const std::int64_t span = std::max<std::int64_t>(1, window.to_ns - window.from_ns);
  return {window.from_ns, (span - 1) / slabs + 1, slabs};
}

constexpr std::int64_t kCountedNowhere = -1;

// A place as a key, in the same order.
std::int64_t key_of(CellStep place) {
  return static_cast<std::int64_t>(place.cell) << 32 | place.step;
}
CellStep place_of(std::int64_t key) {
  return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
}

void append(PackedTable& table, std::initializer_list<std::int64_t> row) {
  std::size_t i = 0;
  for (const std::int64_t value : row) table.columns[i++].values.push_back(value);
}
std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::size_t rows_of(const std::vector<PackedTable>& tables) {
  std::size_t rows = 0;
  for (const PackedTable& table : tables) rows += table.columns.front().values.size();
  return rows;
}

// A row of a table of traffic: slab, cell or total, sums.
using TrafficRow = std::tuple<std::uint32_t, std::size_t, PathTotals>;

std::vector<TrafficRow> in_order(std::vector<TrafficRow> rows) {
  std::sort(rows.begin(), rows.end(), [](const TrafficRow& a, const TrafficRow& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  return rows;
}

template <typename Sum>
Sum& grown_to(std::vector<Sum>& sums, std::size_t index) {
  if (sums.size() <= index) sums.resize(index + 1);
  return sums[index];
}

// A sweep over the slabs in which something changes: cost by operations, not by their length.
// Calls emit(slab, length, busy_ns, starts).
template <typename Emit>
void sweep(const SlabSeries<BusyChange>& changes, std::int64_t slab_ns, Emit emit) {
  std::int64_t level = 0;
  std::uint32_t next = 0;
  for (const auto& [slab, change] : changes.entries()) {
    if (level > 0 && slab > next) emit(next, slab - next, level * slab_ns, 0);
    level += change.level;
    const std::int64_t busy = change.part_ns + level * slab_ns;
    if (busy > 0 || change.starts > 0) emit(slab, 1, busy, number(change.starts));
    next = slab + 1;
  }
}

}  // namespace

PageSlabs::PageSlabs(const PageWindow& window, std::size_t processes, std::size_t row_budget)
    : window_(window), row_budget_(row_budget), axis_(first_axis(window, processes)) {}

std::vector<SlabSeries<PathTotals>>& PageSlabs::paths_of(std::uint32_t cell, std::size_t steps) {
  auto& of_cell = grown_to(paths_, cell);
  if (of_cell.size() < steps) of_cell.resize(steps);
  return of_cell;
}

void PageSlabs::add(const Message& message, const PageCells::Placed& placed) {
  const std::int64_t time = time_of(message);
  if (time < 0) return;
  const std::uint32_t slab = axis_.slab_of(time);
  grown_to(messages_, placed.cell).at(slab, sums_) += {1, message.bytes, 0};
  auto& paths = paths_of(placed.cell, placed.path.size());
  for (std::size_t i = 0; i < placed.path.size(); ++i) paths[i].at(slab, sums_) += placed.path[i];
  keep_within_bound();
}

void PageSlabs::add_without_message(const Transfer& transfer, CellStep placed) {
  if (transfer.t_start_ns < 0) return;
  paths_of(placed.cell, placed.step + 1)[placed.step].at(axis_.slab_of(transfer.t_start_ns),
                                                         sums_) +=
      {1, transfer.payload_bytes, transfer.wire_bytes};
  keep_within_bound();
}

void PageSlabs::add(const MpiCallRow& call) {
  const std::pair kind{call.function, call.comm};
  const auto [entry, is_new] = call_kind_numbers_.emplace(kind, number(call_kinds_.size()));
  if (is_new) call_kinds_.push_back(kind);
  add(PageLayer::mpi, {call.process, entry->second}, call.t_start_ns, call.t_end_ns);
}

void PageSlabs::add(const UcpOperationRow& operation, std::optional<std::uint32_t> cell) {
  add(PageLayer::ucp, {operation.process, cell ? std::int64_t{*cell} : kCountedNowhere},
      operation.t_start_ns, operation.t_end_ns);
}

void PageSlabs::add(const Transfer& transfer, std::optional<CellStep> placed) {
  add(PageLayer::uct, {transfer.process, placed ? key_of(*placed) : kCountedNowhere},
      transfer.t_start_ns, end_of(transfer));
}

void PageSlabs::add(PageLayer layer, Group group, std::int64_t start_ns, std::int64_t end_ns) {
  end_ns = std::max(start_ns, end_or(end_ns, window_.to_ns));
  if (!window_.overlaps(start_ns, end_ns)) return;
  const std::int64_t start = std::max(start_ns, window_.from_ns);
  const std::int64_t end = std::min(end_ns, window_.to_ns);
  const std::uint32_t in = axis_.slab_of(start);
  const std::uint32_t out = axis_.slab_of(std::max(start, end - 1));
  SlabSeries<BusyChange>& changes = activity_[static_cast<std::size_t>(layer)][group];
  changes.at(in, sums_).starts += start_ns >= window_.from_ns;
  if (in == out) {
    changes.at(in, sums_).part_ns += end - start;
  } else {
    const auto begin_of = [&](std::uint32_t slab) { return axis_.from_ns + axis_.slab_ns * slab; };
    changes.at(in, sums_).part_ns += begin_of(in + 1) - start;
    changes.at(out, sums_).part_ns += end - begin_of(out);
    if (out > in + 1) {
      ++changes.at(in + 1, sums_).level;
      --changes.at(out, sums_).level;
    }
  }
  keep_within_bound();
}

void PageSlabs::keep_within_bound() {
  while (sums_ / kSumsOfRow > row_budget_ && axis_.slabs > kFewestSlabs) coarsen();
}

void PageSlabs::coarsen() {
  sums_ = 0;
  for (auto& series : messages_) series.coarsen(axis_.slab_ns, sums_);
  for (auto& of_cell : paths_) {
    for (auto& series : of_cell) series.coarsen(axis_.slab_ns, sums_);
  }
  for (Activity& layer : activity_) {
    for (auto& of_group : layer) of_group.second.coarsen(axis_.slab_ns, sums_);
  }
  axis_.slab_ns *= kCoarser;
  axis_.slabs /= kCoarser;
}

std::vector<PackedTable> PageSlabs::tables(const PageCells& cells) {
  for (;;) {
    std::vector<PackedTable> tables{messages_table(), paths_table(cells)};
    for (const PageLayer layer : {PageLayer::mpi, PageLayer::ucp, PageLayer::uct}) {
      tables.push_back(activity_table(layer, cells));
    }
    if (axis_.slabs <= kFewestSlabs || rows_of(tables) <= row_budget_) return tables;
    coarsen();
  }
}

PackedTable PageSlabs::messages_table() const {
  std::vector<TrafficRow> rows;
  for (std::size_t cell = 0; cell < messages_.size(); ++cell) {
    for (const auto& [slab, sum] : messages_[cell].entries()) rows.emplace_back(slab, cell, sum);
  }
  PackedTable table{"slab_cells",
                    {{"slab", Coding::differences, {}},
                     {"cell", Coding::values, {}},
                     {"messages", Coding::values, {}},
                     {"bytes", Coding::values, {}}}};
  for (const auto& [slab, cell, sum] : in_order(std::move(rows))) {
    append(table, {slab, number(cell), number(sum.count), number(sum.bytes)});
  }
  return table;
}

PackedTable PageSlabs::paths_table(const PageCells& cells) const {
  std::vector<TrafficRow> rows;
  for (std::uint32_t cell = 0; cell < paths_.size(); ++cell) {
    for (std::uint32_t step = 0; step < paths_[cell].size(); ++step) {
      const std::size_t total = cells.total_of({cell, step});
      for (const auto& [slab, sum] : paths_[cell][step].entries()) {
        rows.emplace_back(slab, total, sum);
      }
    }
  }
  PackedTable table{"slab_transfers",
                    {{"slab", Coding::differences, {}},
                     {"total", Coding::values, {}},
                     {"count", Coding::values, {}},
                     {"bytes", Coding::values, {}},
                     {"wire_bytes", Coding::values, {}}}};
  for (const auto& [slab, total, sum] : in_order(std::move(rows))) {
    append(table,
           {slab, number(total), number(sum.count), number(sum.bytes), number(sum.wire_bytes)});
  }
  return table;
}

PackedTable PageSlabs::activity_table(PageLayer layer, const PageCells& cells) const {
  static constexpr std::array kNames = {"mpi_activity", "ucp_activity", "uct_activity"};
  PackedTable table{kNames[static_cast<std::size_t>(layer)],
                    {{"process", Coding::differences, {}},
                     {"key", Coding::differences, {}},
                     {"slab", Coding::differences, {}},
                     {"length", Coding::values, {}},
                     {"busy_ns", Coding::values, {}},
                     {"starts", Coding::values, {}}}};
  const Activity& activity = activity_[static_cast<std::size_t>(layer)];
  std::vector<Group> groups;
  for (const auto& [group, changes] : activity) groups.push_back(group);
  std::sort(groups.begin(), groups.end());
  for (const Group& group : groups) {
    const std::int64_t key = layer == PageLayer::uct && group.key != kCountedNowhere
                                 ? number(cells.total_of(place_of(group.key)))
                                 : group.key;
    sweep(activity.at(group), axis_.slab_ns,
          [&](std::uint32_t slab, std::uint32_t length, std::int64_t busy, std::int64_t starts) {
            append(table, {group.process, key, slab, length, busy, starts});
          });
  }
  return table;
}

}  // namespace uctrace
