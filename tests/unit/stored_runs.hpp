// Runs with any values that the store can hold, to be saved and read back.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/store/store_tables.hpp"
#include "tests/unit/stored_ranges.hpp"

namespace uctrace {

struct Sizes {
  std::size_t texts, rows;
};

// Fills every member of every row at random, within the ranges that the tables declare.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : random_(seed) {}

  Run make(Sizes sizes) {
    Run run;
    for (std::size_t i = 0; i < sizes.texts; ++i) run.texts.intern(text(i));
    run.run_id = text(1);
    run.command = "mpirun -n 2 ./a\n\"b\" \xff";
    run.info_json = std::string(100000, ' ') + "{}";
    run.epoch_realtime_ns = random_();
    run.last_ns = static_cast<std::int64_t>(random_() >> 1);
    run.store_id = text(2);
    run.settled = random_() % 2 != 0;
    run.calls_are_summed = random_() % 2 != 0;
    run.messages_are_summed = random_() % 2 != 0;
    for (std::size_t i = 0; i < sizes.rows; ++i) run.notes.push_back(text(i));
    store::for_each_of(store::kTables, [&](auto rows) { (run.*rows).resize(sizes.rows); });
    store::for_each_of(store::kTables, [&](auto rows) { fill(run, run.*rows); });
    lay_out_ranges(run, sizes.rows, 2, [&](std::size_t end) { return random_() % end; });
    for (Communicator& comm : run.communicators) {
      comm.first_member = static_cast<std::uint32_t>(random_() % (sizes.rows + 1));
      comm.members = static_cast<std::uint32_t>(random_() % (sizes.rows - comm.first_member + 1));
    }
    for (CallStack& stack : run.stacks) {
      stack.first_frame = static_cast<std::uint32_t>(random_() % (sizes.rows + 1));
      stack.frames = static_cast<std::uint32_t>(random_() % (sizes.rows - stack.first_frame + 1));
    }
    for (Setting& setting : run.settings) {
      setting.first_process = static_cast<std::uint32_t>(random_() % sizes.rows);
      setting.processes =
          static_cast<std::uint32_t>(random_() % (sizes.rows - setting.first_process + 1));
    }
    return run;
  }

 private:
  std::string text(std::size_t i) {
    return "text " + std::to_string(i) + std::string(random_() % 5, '\0') + "\u00e9";
  }

  template <typename Row>
  void fill(const Run& run, std::vector<Row>& rows) {
    for (Row& row : rows) {
      store::for_each_of(store::Table<Row>::columns,
                         [&](const auto& column) { set(run, row.*column.member, column.unit); });
    }
  }

  template <typename Value>
  void set(const Run& run, Value& value, store::Unit unit) {
    if constexpr (std::is_same_v<Value, std::string>) {
      value = text(random_() % 100);
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = random_() % 2 != 0;
    } else if constexpr (std::is_enum_v<Value>) {
      value = static_cast<Value>(random_() % 2);
    } else if (unit == store::Unit::text) {
      value = static_cast<Value>(random_() % run.texts.all().size());
    } else if (store::is_reference(unit)) {  // all tables have as many rows
      const std::uint64_t none = std::is_signed_v<Value>;
      value = static_cast<Value>(random_() % (run.processes.size() + none) - none);
    } else if (std::is_same_v<Value, std::int64_t> && unit == store::Unit::ns) {
      value = static_cast<Value>(static_cast<std::int64_t>(random_()) / 4);
    } else {
      value = static_cast<Value>(random_());
    }
  }

  std::mt19937_64 random_;
};

template <typename Row>
inline void check_same(const std::vector<Row>& a, const std::vector<Row>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    store::for_each_of(store::Table<Row>::columns, [&](const auto& column) {
      if (a[i].*column.member != b[i].*column.member) {
        FAIL(store::Table<Row>::name << '/' << column.name << " differs in row " << i);
      }
    });
  }
}

inline void check_same(const Run& a, const Run& b) {
  CHECK(a.texts.all() == b.texts.all());
  CHECK(a.notes == b.notes);
  CHECK(a.run_id == b.run_id);
  CHECK(a.command == b.command);
  CHECK(a.info_json == b.info_json);
  CHECK(a.epoch_realtime_ns == b.epoch_realtime_ns);
  CHECK(a.last_ns == b.last_ns);
  CHECK(a.store_id == b.store_id);
  CHECK(a.settled == b.settled);
  CHECK(a.calls_are_summed == b.calls_are_summed);
  CHECK(a.messages_are_summed == b.messages_are_summed);
  CHECK(a.slab_ns == b.slab_ns);
  CHECK(a.slabs == b.slabs);
  store::for_each_of(store::kTables, [&](auto rows) { check_same(a.*rows, b.*rows); });
}

}  // namespace uctrace
