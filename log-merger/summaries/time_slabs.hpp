// Activity over time: the traffic of each cell in slabs of equal length, and how busy each process
// was in each slab, in all three layers (traffic_rows.hpp). Rows are added one by one. If there are
// too many sums, four slabs are merged into one: so neither size nor memory grows with the run, and
// coarser sums equal the finer ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/parallel/workers.hpp"
#include "log-merger/summaries/numbers.hpp"
#include "log-merger/summaries/slab_series.hpp"
#include "log-merger/summaries/time_window.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

inline constexpr std::uint32_t kMostSlabs = 4096;

struct TimeAxis {
  std::int64_t from_ns = 0, slab_ns = 1;
  std::uint32_t slabs = 1;

  std::uint32_t slab_of(std::int64_t time_ns) const {
    return static_cast<std::uint32_t>((time_ns - from_ns) / slab_ns);
  }
};

struct SlabTables {
  TimeAxis axis;
  std::vector<CallGroup> call_groups;
  std::vector<CellSlab> cell_slabs;
  std::vector<TotalSlab> total_slabs;
  std::vector<SlabActivity> slab_activity;

  std::size_t rows() const { return cell_slabs.size() + total_slabs.size() + slab_activity.size(); }
};

inline constexpr std::size_t kSlabRows = 300'000;

class TimeSlabs {
 public:
  TimeSlabs(const TimeWindow& window, std::size_t processes, std::size_t row_budget = kSlabRows);

  // Adds a message in the window, at its instant; and a transfer without a message, by its total.
  void add(const Message& message, const TrafficCells::Placed& placed);
  void add_without_message(const Transfer& transfer, std::uint32_t total);
  // Adds activity. nullopt: counted nowhere.
  void add(const MpiCallRow& call);
  void add(const UcpOperationRow& operation, std::optional<std::uint32_t> cell);
  void add(const Transfer& transfer, std::optional<std::uint32_t> total);

  // The number of sums held. Most become one row each: a budget of rows bounds them.
  std::size_t sums() const { return sums_; }
  static constexpr std::size_t kSumsOfRow = 2;

  // Merges another one with the same window and budget: other layers of activity, and totals whose
  // numbers follow from `first_total` on.
  void take(TimeSlabs&& other, std::size_t first_total = 0);

  // Once all is added.
  SlabTables tables(const Workers& workers = Workers());

 private:
  static constexpr std::int32_t kCountedNowhere = -1;
  struct MessageTotal {
    std::uint64_t messages = 0, bytes = 0, timed = 0, ns = 0;

    MessageTotal& operator+=(const MessageTotal& more) {
      messages += more.messages;
      bytes += more.bytes;
      timed += more.timed;
      ns += more.ns;
      return *this;
    }
  };
  // Whose activity: a process, and what it was busy with.
  struct Group {
    std::uint32_t process;
    std::int32_t key;
    auto operator<=>(const Group&) const = default;
  };
  struct GroupChange {
    Group group;
    std::uint32_t slab;
    BusyChange change;

    auto key() const { return std::tie(group, slab); }
    GroupChange& operator+=(const GroupChange& more) {
      change += more.change;
      return *this;
    }
  };
  using Series = SlabSeries<BusyChange>;
  // For one layer. Rows come process by process: only one process's groups are in use; those of
  // others are in one long list, which can be spilled.
  struct Activity {
    // Of processes before, by group and slab; one whose rows do not stand together has several
    // lists until they are joined.
    std::vector<GroupChange> earlier;
    std::uint32_t process = 0;
    std::vector<std::int32_t> keys;           // of the present one, in the order in which they came
    std::vector<Series> series;               // of each of them
    std::vector<std::uint32_t> place_of_key;  // at key + 1 the place in these + 1; 0: it has none
  };

  static std::int32_t key_of(std::optional<std::uint32_t> number) {
    return number ? static_cast<std::int32_t>(*number) : kCountedNowhere;
  }
  static Series& series_of(Activity& activity, Group group);
  static void end_process(Activity& activity);
  void coarsen(std::vector<GroupChange>& changes);
  void add(ActivityLayer layer, Group group, std::int64_t start_ns, std::int64_t end_ns);
  void keep_within_bound();
  void coarsen();
  SlabTables tables_of_axis(const Workers& workers);
  std::vector<CellSlab> cell_slabs() const;
  std::vector<TotalSlab> total_slabs() const;
  std::vector<SlabActivity> activity_of(ActivityLayer layer);

  const TimeWindow window_;
  const std::size_t row_budget_;
  TimeAxis axis_;
  std::size_t sums_ = 0;                            // in all series
  std::vector<SlabSeries<MessageTotal>> messages_;  // by cell
  std::vector<SlabSeries<CellTotal>> totals_;       // by total
  std::array<Activity, 3> activity_;                // by layer
  std::vector<CallGroup> call_groups_;
  summaries::Numbers<summaries::Key<2>> call_group_numbers_;
};

}  // namespace uctrace
