#include "log-merger/page-data/page_timeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "log-merger/summaries/filter.hpp"

namespace uctrace {

std::int64_t end_or(std::int64_t end_ns, std::int64_t to_ns) { return end_ns < 0 ? to_ns : end_ns; }

std::int64_t end_of(const Transfer& transfer) {
  return transfer.t_complete_ns >= 0 ? transfer.t_complete_ns : transfer.t_end_ns;
}

namespace {

constexpr std::uint32_t kMostSlabs = 4096, kFewestSlabs = 16;
// The page keeps every slab of three layers of each process as a number.
constexpr std::size_t kMostNumbers = 1'600'000;

// One operation of one process.
struct Activity {
  std::uint32_t process = 0;
  std::int64_t key = -1;
  std::int64_t start_ns = 0, end_ns = 0;
};

struct Layer {
  const char* name;
  std::vector<Activity> activities;  // by process, key
};

class SlabBuilder {
 public:
  SlabBuilder(const Run& run, const PageCells& cells, std::int64_t from_ns, std::int64_t to_ns)
      : run_(run), cells_(cells), from_ns_(from_ns), to_ns_(to_ns) {
    add_mpi();
    add_ucp();
    add_uct();
    for (Layer& layer : layers_) {
      std::sort(layer.activities.begin(), layer.activities.end(),
                [](const Activity& a, const Activity& b) {
                  return std::tie(a.process, a.key) < std::tie(b.process, b.key);
                });
    }
  }

  Slabs build(std::size_t row_budget) {
    const std::size_t lanes = 3 * std::max<std::size_t>(1, run_.processes.size());
    for (std::uint32_t slabs = kMostSlabs;; slabs /= 4) {
      const bool is_last = slabs <= kFewestSlabs;
      if (!is_last && lanes * slabs > kMostNumbers) continue;
      if (auto tables = build_with(slabs, is_last ? SIZE_MAX : row_budget)) {
        return {axis_, call_kinds_, *std::move(tables)};
      }
    }
  }

 private:
  void add(Layer& layer, std::uint32_t process, std::int64_t key, std::int64_t start,
           std::int64_t end) {
    end = std::max(start, end_or(end, to_ns_));
    if (start < 0 || start >= to_ns_ || end < from_ns_) return;
    layer.activities.push_back({process, key, start, end});
  }

  void add_mpi() {
    std::map<std::pair<TextId, TextId>, std::size_t> known;
    for (const MpiCallRow& call : run_.mpi_calls) {
      const std::pair kind{call.function, call.comm};
      const auto [entry, is_new] = known.emplace(kind, call_kinds_.size());
      if (is_new) call_kinds_.push_back(kind);
      add(layers_[0], call.process, static_cast<std::int64_t>(entry->second), call.t_start_ns,
          call.t_end_ns);
    }
  }

  void add_ucp() {
    for (const UcpOperationRow& row : run_.ucp_operations) {
      const std::size_t cell = row.message < 0
                                   ? PageCells::kNowhere
                                   : cells_.cell_of_message(static_cast<std::size_t>(row.message));
      add(layers_[1], row.process, key_of(cell), row.t_start_ns, row.t_end_ns);
    }
  }

  void add_uct() {
    for (std::size_t i = 0; i < run_.transfers.size(); ++i) {
      const Transfer& transfer = run_.transfers[i];
      add(layers_[2], transfer.process, key_of(cells_.total_of_transfer(transfer, i)),
          transfer.t_start_ns, end_of(transfer));
    }
  }

  static std::int64_t key_of(std::size_t number) {
    return number == PageCells::kNowhere ? -1 : static_cast<std::int64_t>(number);
  }

  // Nothing if there are more rows than that.
  std::optional<std::vector<PackedTable>> build_with(std::uint32_t slabs, std::size_t most_rows) {
    const std::int64_t span = std::max<std::int64_t>(1, to_ns_ - from_ns_);
    axis_ = {from_ns_, (span + slabs - 1) / slabs, slabs};
    rows_left_ = most_rows;
    std::vector<PackedTable> tables;
    if (!add_traffic(tables)) return std::nullopt;
    for (const Layer& layer : layers_) {
      if (!add_activity(layer, tables)) return std::nullopt;
    }
    return tables;
  }

  bool add_traffic(std::vector<PackedTable>& tables) {
    using Key = std::pair<std::uint32_t, std::size_t>;  // slab, and cell or total
    std::map<Key, PathTotals> messages, transfers;
    for (std::size_t i = 0; i < run_.messages.size(); ++i) {
      const std::size_t cell = cells_.cell_of_message(i);
      const std::int64_t time = time_of(run_.messages[i]);
      if (cell == PageCells::kNowhere || time < 0) continue;
      const std::uint32_t slab = axis_.slab_of(time);
      PathTotals& sum = messages[{slab, cell}];
      ++sum.count;
      sum.bytes += run_.messages[i].bytes;
      cells_.visit_path(i, [&](std::size_t total, const PathTotals& part) {
        PathTotals& path = transfers[{slab, total}];
        path.count += part.count;
        path.bytes += part.bytes;
        path.wire_bytes += part.wire_bytes;
      });
      if (messages.size() + transfers.size() > rows_left_) return false;
    }
    for (std::size_t i = 0; i < run_.transfers.size(); ++i) {
      const Transfer& transfer = run_.transfers[i];
      if (transfer.message >= 0 || transfer.t_start_ns < 0) continue;
      const std::size_t total = cells_.total_of_transfer(transfer, i);
      if (total == PageCells::kNowhere) continue;
      PathTotals& sum = transfers[{axis_.slab_of(transfer.t_start_ns), total}];
      ++sum.count;
      sum.bytes += transfer.payload;
      sum.wire_bytes += transfer.bytes;
    }
    rows_left_ -= std::min(rows_left_, messages.size() + transfers.size());
    PackedTable of_cells{"slab_cells",
                         {{"slab", Coding::differences, {}},
                          {"cell", Coding::values, {}},
                          {"messages", Coding::values, {}},
                          {"bytes", Coding::values, {}}}};
    for (const auto& [key, sum] : messages)
      append(of_cells, {key.first, key.second, sum.count, sum.bytes});
    PackedTable of_transfers{"slab_transfers",
                             {{"slab", Coding::differences, {}},
                              {"total", Coding::values, {}},
                              {"count", Coding::values, {}},
                              {"bytes", Coding::values, {}},
                              {"wire_bytes", Coding::values, {}}}};
    for (const auto& [key, sum] : transfers) {
      append(of_transfers, {key.first, key.second, sum.count, sum.bytes, sum.wire_bytes});
    }
    tables.push_back(std::move(of_cells));
    tables.push_back(std::move(of_transfers));
    return true;
  }

  static void append(PackedTable& table, std::initializer_list<std::uint64_t> row) {
    std::size_t i = 0;
    for (const std::uint64_t value : row) {
      table.columns[i++].values.push_back(static_cast<std::int64_t>(value));
    }
  }

  bool add_activity(const Layer& layer, std::vector<PackedTable>& tables) {
    PackedTable table{std::string(layer.name) + "_activity",
                      {{"process", Coding::differences, {}},
                       {"key", Coding::differences, {}},
                       {"slab", Coding::differences, {}},
                       {"length", Coding::values, {}},
                       {"busy_ns", Coding::values, {}},
                       {"starts", Coding::values, {}}}};
    const std::vector<Activity>& all = layer.activities;
    for (auto first = all.begin(); first != all.end();) {
      const auto last = std::find_if(first, all.end(), [&](const Activity& other) {
        return other.process != first->process || other.key != first->key;
      });
      add_group(first, last, table);
      if (table.columns.front().values.size() > rows_left_) return false;
      first = last;
    }
    rows_left_ -= std::min(rows_left_, table.columns.front().values.size());
    tables.push_back(std::move(table));
    return true;
  }

  // What begins or ends in a slab; those between are busy as long as the level says.
  struct Change {
    std::int64_t part_ns = 0, level = 0;
    std::uint64_t starts = 0;
  };

  // A sweep over the slabs in which something changes: cost by operations, not by their length.
  template <typename Iterator>
  void add_group(Iterator first, Iterator last, PackedTable& table) {
    std::map<std::uint32_t, Change> changes;
    for (auto it = first; it != last; ++it) note(*it, changes);
    const auto emit = [&](std::uint32_t slab, std::uint32_t length, std::int64_t busy,
                          std::uint64_t starts) {
      const std::array<std::int64_t, 6> row = {
          first->process, first->key, slab, length, busy, static_cast<std::int64_t>(starts)};
      for (std::size_t i = 0; i < row.size(); ++i) table.columns[i].values.push_back(row[i]);
    };
    std::int64_t level = 0;
    std::uint32_t next = 0;
    for (const auto& [slab, change] : changes) {
      if (level > 0 && slab > next) emit(next, slab - next, level * axis_.slab_ns, 0);
      level += change.level;
      const std::int64_t busy = change.part_ns + level * axis_.slab_ns;
      if (busy > 0 || change.starts > 0) emit(slab, 1, busy, change.starts);
      next = slab + 1;
    }
  }

  void note(const Activity& activity, std::map<std::uint32_t, Change>& changes) const {
    const std::int64_t start = std::max(activity.start_ns, from_ns_);
    const std::int64_t end = std::min(activity.end_ns, to_ns_);
    const std::uint32_t in = axis_.slab_of(start);
    const std::uint32_t out = axis_.slab_of(std::max(start, end - 1));
    changes[in].starts += activity.start_ns >= from_ns_;
    if (in == out) {
      changes[in].part_ns += end - start;
      return;
    }
    const auto begin_of = [&](std::uint32_t slab) { return from_ns_ + axis_.slab_ns * slab; };
    changes[in].part_ns += begin_of(in + 1) - start;
    changes[out].part_ns += end - begin_of(out);
    if (out > in + 1) {
      ++changes[in + 1].level;
      --changes[out].level;
    }
  }

  const Run& run_;
  const PageCells& cells_;
  const std::int64_t from_ns_, to_ns_;
  std::array<Layer, 3> layers_ = {{{"mpi", {}}, {"ucp", {}}, {"uct", {}}}};
  std::vector<std::pair<TextId, TextId>> call_kinds_;
  TimeAxis axis_;
  std::size_t rows_left_ = 0;
};

}  // namespace

Slabs make_slabs(const Run& run, const PageCells& cells, std::int64_t from_ns, std::int64_t to_ns,
                 std::size_t row_budget) {
  return SlabBuilder(run, cells, from_ns, to_ns).build(row_budget);
}

}  // namespace uctrace
