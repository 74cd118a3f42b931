// What the page knows of time: the traffic of each cell in slabs of equal length, and how busy each
// process was in each of them, in all three layers. Rows are taken one after the other. Where there
// are too many sums, four slabs become one: neither the size nor the memory grows with the run, and
// the sums of a coarser axis are those of the finer one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/page-data/page_cells.hpp"
#include "log-merger/page-data/page_window.hpp"
#include "log-merger/page-data/slab_series.hpp"

namespace uctrace {

// Slab i is [from_ns + i * slab_ns, from_ns + (i + 1) * slab_ns).
struct TimeAxis {
  std::int64_t from_ns = 0, slab_ns = 1;
  std::uint32_t slabs = 1;

  std::uint32_t slab_of(std::int64_t time_ns) const {
    return static_cast<std::uint32_t>((time_ns - from_ns) / slab_ns);
  }
};

inline constexpr std::size_t kSlabRows = 300'000;

enum class PageLayer : std::uint8_t { mpi, ucp, uct };

// Tables, each sorted by what it names first:
//   slab_cells       slab, cell, messages, bytes: of the messages that start in the slab
//   slab_transfers   slab, total, count, bytes, wire_bytes: of their whole paths
//   mpi_activity     process, key, slab, length, busy_ns, starts; key: of call_kinds
//   ucp_activity     the same of UCP operations; key: cell of the message, -1 = serves none
//   uct_activity     the same of transfers; key: transfer total, -1 = counted nowhere
// An activity row says that in each of `length` slabs operations were in progress for together
// busy_ns (more than the slab is long if several were at once), and how many began in the slab.
class PageSlabs {
 public:
  PageSlabs(const PageWindow& window, std::size_t processes, std::size_t row_budget = kSlabRows);

  // A message that is in the window, at its instant; and a transfer that serves none.
  void add(const Message& message, const PageCells::Placed& placed);
  void add_without_message(const Transfer& transfer, CellStep placed);
  // What was in progress. nullopt: it is counted nowhere.
  void add(const MpiCallRow& call);
  void add(const UcpOperationRow& operation, std::optional<std::uint32_t> cell);
  void add(const Transfer& transfer, std::optional<CellStep> placed);

  // Once all is added. The axis is theirs.
  std::vector<PackedTable> tables(const PageCells& cells);
  const TimeAxis& axis() const { return axis_; }
  // Function and communicator of MPI calls, in order of first appearance.
  const std::vector<std::pair<TextId, TextId>>& call_kinds() const { return call_kinds_; }

 private:
  // Whose activity: a process, and what it was busy with.
  struct Group {
    std::uint32_t process;
    std::int64_t key;
    auto operator<=>(const Group&) const = default;
  };
  struct GroupHash {
    std::size_t operator()(const Group& group) const {
      return std::hash<std::uint64_t>{}(
          (static_cast<std::uint64_t>(group.key) * 0x9E3779B97F4A7C15u) ^ group.process);
    }
  };
  using Activity = std::unordered_map<Group, SlabSeries<BusyChange>, GroupHash>;

  void add(PageLayer layer, Group group, std::int64_t start_ns, std::int64_t end_ns);
  std::vector<SlabSeries<PathTotals>>& paths_of(std::uint32_t cell, std::size_t steps);
  void keep_within_bound();
  void coarsen();
  PackedTable messages_table() const;
  PackedTable paths_table(const PageCells& cells) const;
  PackedTable activity_table(PageLayer layer, const PageCells& cells) const;

  const PageWindow window_;
  const std::size_t row_budget_;
  TimeAxis axis_;
  std::size_t sums_ = 0;                                    // in all series
  std::vector<SlabSeries<PathTotals>> messages_;            // by cell; wire_bytes is not used
  std::vector<std::vector<SlabSeries<PathTotals>>> paths_;  // by cell, then step
  std::array<Activity, 3> activity_;                        // by layer
  std::vector<std::pair<TextId, TextId>> call_kinds_;
  std::map<std::pair<TextId, TextId>, std::int64_t> call_kind_numbers_;
};

}  // namespace uctrace
