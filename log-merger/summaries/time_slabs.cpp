#include "log-merger/summaries/time_slabs.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "log-merger/model/latency.hpp"
#include "log-merger/summaries/grouped.hpp"

namespace uctrace {

namespace {

constexpr std::uint32_t kFewestSlabs = 16;
// The page stores each slab of three layers of each process as a number.
constexpr std::size_t kMostNumbers = 1'600'000;

TimeAxis first_axis(const TimeWindow& window, std::size_t processes) {
  const std::size_t lanes = 3 * std::max<std::size_t>(1, processes);
  std::uint32_t slabs = kMostSlabs;
  while (slabs > kFewestSlabs && lanes * slabs > kMostNumbers) slabs /= kCoarser;
  const std::int64_t span = std::max<std::int64_t>(1, window.to_ns - window.from_ns);
  return {window.from_ns, (span - 1) / slabs + 1, slabs};
}

template <typename Sum>
Sum& grown_to(std::vector<Sum>& sums, std::size_t index) {
  if (sums.size() <= index) sums.resize(index + 1);
  return sums[index];
}

// A sweep over the slabs in which something changes: cost by operations, not by their length.
// Calls emit(slab, length, busy_ns, starts).
template <typename Changes, typename Emit>
void sweep(const Changes& changes, std::int64_t slab_ns, Emit emit) {
  std::int64_t level = 0;
  std::uint32_t next = 0;
  for (const auto& [group, slab, change] : changes) {
    if (level > 0 && slab > next) emit(next, slab - next, level * slab_ns, std::uint64_t{0});
    level += change.level;
    const std::int64_t busy = change.part_ns + level * slab_ns;
    if (busy > 0 || change.starts > 0) emit(slab, 1, busy, change.starts);
    next = slab + 1;
  }
}

// Calls visit(span) for the adjacent changes of each group.
template <typename Change, typename Visit>
void each_group(const std::vector<Change>& changes, Visit visit) {
  for (std::size_t begin = 0, end = 0; begin < changes.size(); begin = end) {
    while (end < changes.size() && changes[end].group == changes[begin].group) ++end;
    visit(std::span(changes).subspan(begin, end - begin));
  }
}

}  // namespace

TimeSlabs::TimeSlabs(const TimeWindow& window, std::size_t processes, std::size_t row_budget)
    : window_(window), row_budget_(row_budget), axis_(first_axis(window, processes)) {}

void TimeSlabs::add(const Message& message, const TrafficCells::Placed& placed) {
  const std::int64_t time = time_of(message);
  if (time < 0) return;
  const std::uint32_t slab = axis_.slab_of(time);
  const auto taken = time_taken(message);
  grown_to(messages_, placed.cell).at(slab, sums_) +=
      {1, message.bytes, taken ? 1U : 0U, taken.value_or(0)};
  std::uint32_t total = placed.first_total;
  for (const CellTotal& sum : placed.path) grown_to(totals_, total++).at(slab, sums_) += sum;
  keep_within_bound();
}

void TimeSlabs::add_without_message(const Transfer& transfer, std::uint32_t total) {
  if (transfer.t_start_ns < 0) return;
  grown_to(totals_, total).at(axis_.slab_of(transfer.t_start_ns), sums_) +=
      {1, transfer.payload_bytes, transfer.wire_bytes};
  keep_within_bound();
}

void TimeSlabs::add(const MpiCallRow& call) {
  const auto [number, is_new] = call_group_numbers_.of(summaries::key_of(call.function, call.comm));
  if (is_new) call_groups_.push_back({call.function, call.comm});
  add(ActivityLayer::mpi, {call.process, key_of(number)}, call.t_start_ns, call.t_end_ns);
}

void TimeSlabs::add(const UcpOperationRow& operation, std::optional<std::uint32_t> cell) {
  add(ActivityLayer::ucp, {operation.process, key_of(cell)}, operation.t_start_ns,
      operation.t_end_ns);
}

void TimeSlabs::add(const Transfer& transfer, std::optional<std::uint32_t> total) {
  add(ActivityLayer::uct, {transfer.process, key_of(total)}, transfer.t_start_ns, end_of(transfer));
}

void TimeSlabs::add(ActivityLayer layer, Group group, std::int64_t start_ns, std::int64_t end_ns) {
  end_ns = std::max(start_ns, end_or(end_ns, window_.to_ns));
  if (!window_.overlaps(start_ns, end_ns)) return;
  const std::int64_t start = std::max(start_ns, window_.from_ns);
  const std::int64_t end = std::min(end_ns, window_.to_ns);
  const std::uint32_t in = axis_.slab_of(start);
  const std::uint32_t out = axis_.slab_of(std::max(start, end - 1));
  Series& changes = series_of(activity_[static_cast<std::size_t>(layer)], group);
  BusyChange& first = changes.at(in, sums_);
  first.starts += start_ns >= window_.from_ns;
  if (in == out) {
    first.part_ns += end - start;
  } else {
    const auto begin_of = [&](std::uint32_t slab) { return axis_.from_ns + axis_.slab_ns * slab; };
    first.part_ns += begin_of(in + 1) - start;
    const bool has_between = out > in + 1;
    if (has_between) ++changes.at(in + 1, sums_).level;
    BusyChange& last = changes.at(out, sums_);
    last.part_ns += end - begin_of(out);
    if (has_between) --last.level;
  }
  keep_within_bound();
}

TimeSlabs::Series& TimeSlabs::series_of(Activity& activity, Group group) {
  if (activity.process != group.process) {
    end_process(activity);
    activity.process = group.process;
  }
  std::uint32_t& place = grown_to(activity.place_of_key, static_cast<std::size_t>(group.key) + 1);
  if (place == 0) {
    activity.keys.push_back(group.key);
    activity.series.emplace_back();
    place = static_cast<std::uint32_t>(activity.keys.size());
  }
  return activity.series[place - 1];
}

void TimeSlabs::end_process(Activity& activity) {
  std::sort(activity.keys.begin(), activity.keys.end());
  for (const std::int32_t key : activity.keys) {
    std::uint32_t& place = activity.place_of_key[static_cast<std::size_t>(key) + 1];
    activity.series[place - 1].each([&](std::uint32_t slab, const BusyChange& change) {
      activity.earlier.push_back({{activity.process, key}, slab, change});
    });
    place = 0;
  }
  activity.keys.clear();
  activity.series.clear();
}

void TimeSlabs::keep_within_bound() {
  while (sums_ / kSumsOfRow > row_budget_ && axis_.slabs > kFewestSlabs) coarsen();
}

void TimeSlabs::coarsen() {
  sums_ = 0;
  for (auto& series : messages_) series.coarsen(axis_.slab_ns, sums_);
  for (auto& series : totals_) series.coarsen(axis_.slab_ns, sums_);
  for (Activity& layer : activity_) {
    for (Series& series : layer.series) series.coarsen(axis_.slab_ns, sums_);
    coarsen(layer.earlier);
  }
  axis_.slab_ns *= kCoarser;
  axis_.slabs /= kCoarser;
}

void TimeSlabs::coarsen(std::vector<GroupChange>& changes) {
  sort_and_join(changes);
  std::vector<GroupChange> coarse;
  each_group(changes, [&](std::span<const GroupChange> group) {
    Series series;
    for (const auto& [of, slab, change] : group) {
      add_coarser(series, slab, change, axis_.slab_ns, sums_);
    }
    series.each([&](std::uint32_t slab, const BusyChange& change) {
      coarse.push_back({group.front().group, slab, change});
    });
  });
  changes = std::move(coarse);
}

void TimeSlabs::take(TimeSlabs&& other, std::size_t first_total) {
  while (axis_.slabs > other.axis_.slabs) coarsen();
  while (other.axis_.slabs > axis_.slabs) other.coarsen();
  if (!other.totals_.empty()) {
    totals_.resize(first_total);
    std::move(other.totals_.begin(), other.totals_.end(), std::back_inserter(totals_));
  }
  for (std::size_t layer = 0; layer < activity_.size(); ++layer) {
    end_process(other.activity_[layer]);
    if (!other.activity_[layer].earlier.empty()) {
      activity_[layer] = std::move(other.activity_[layer]);
    }
  }
  if (!other.call_groups_.empty()) call_groups_ = std::move(other.call_groups_);
  sums_ += other.sums_;
  keep_within_bound();
}

SlabTables TimeSlabs::tables(const Workers& workers) {
  for (;;) {
    SlabTables tables = tables_of_axis(workers);
    if (axis_.slabs <= kFewestSlabs || tables.rows() <= row_budget_) return tables;
    coarsen();
  }
}

SlabTables TimeSlabs::tables_of_axis(const Workers& workers) {
  SlabTables tables{axis_, call_groups_, {}, {}, {}};
  constexpr ActivityLayer kLayers[] = {ActivityLayer::mpi, ActivityLayer::ucp, ActivityLayer::uct};
  std::array<std::vector<SlabActivity>, 3> activity;
  workers.each(2 + activity.size(), [&](std::size_t i) {
    if (i == 0) {
      tables.total_slabs = total_slabs();
    } else if (i == 1) {
      tables.cell_slabs = cell_slabs();
    } else {
      activity[i - 2] = activity_of(kLayers[i - 2]);
    }
  });
  for (const auto& rows : activity) {
    tables.slab_activity.insert(tables.slab_activity.end(), rows.begin(), rows.end());
  }
  return tables;
}

std::vector<CellSlab> TimeSlabs::cell_slabs() const {
  std::vector<CellSlab> rows;
  for (std::uint32_t cell = 0; cell < messages_.size(); ++cell) {
    messages_[cell].each([&](std::uint32_t slab, const MessageTotal& sum) {
      rows.push_back({slab, cell, sum.messages, sum.bytes, sum.timed, sum.ns});
    });
  }
  std::sort(rows.begin(), rows.end(), [](const CellSlab& a, const CellSlab& b) {
    return std::tie(a.slab, a.cell) < std::tie(b.slab, b.cell);
  });
  return rows;
}

std::vector<TotalSlab> TimeSlabs::total_slabs() const {
  std::vector<TotalSlab> rows;
  for (std::uint32_t total = 0; total < totals_.size(); ++total) {
    totals_[total].each([&](std::uint32_t slab, const CellTotal& sum) {
      rows.push_back({slab, total, sum.count, sum.payload_bytes, sum.wire_bytes});
    });
  }
  std::sort(rows.begin(), rows.end(), [](const TotalSlab& a, const TotalSlab& b) {
    return std::tie(a.slab, a.total) < std::tie(b.slab, b.total);
  });
  return rows;
}

std::vector<SlabActivity> TimeSlabs::activity_of(ActivityLayer layer) {
  std::vector<SlabActivity> rows;
  Activity& activity = activity_[static_cast<std::size_t>(layer)];
  end_process(activity);
  sort_and_join(activity.earlier);
  each_group(activity.earlier, [&](std::span<const GroupChange> changes) {
    const Group group = changes.front().group;
    SlabActivity row{.layer = layer, .process = group.process};
    (layer == ActivityLayer::mpi   ? row.call_group
     : layer == ActivityLayer::ucp ? row.cell
                                   : row.total) = group.key;
    sweep(changes, axis_.slab_ns,
          [&](std::uint32_t slab, std::uint32_t length, std::int64_t busy, std::uint64_t starts) {
            row.slab = slab;
            row.length = length;
            row.busy_ns = busy;
            row.starts = starts;
            rows.push_back(row);
          });
  });
  return rows;
}

}  // namespace uctrace
