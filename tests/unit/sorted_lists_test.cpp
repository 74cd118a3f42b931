#include "log-merger/parallel/sorted_lists.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "log-merger/parallel/room_for_rows.hpp"

namespace uctrace {
namespace {

using Row = std::pair<int, std::size_t>;  // what orders it, and which list it is from

struct ByFirst {
  friend bool operator<(const ByFirst& a, const ByFirst& b) { return a.row.first < b.row.first; }
  Row row;
};

}  // namespace

TEST_CASE("merged lists are all of them in order, equal ones in the order of the lists") {
  std::mt19937 random(7);
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<std::vector<ByFirst>> lists(count);
    std::vector<Row> expected;
    for (std::size_t list = 0; list < count; ++list) {
      const std::size_t length = random() % 3 == 0 ? 0 : random() % 50;
      for (std::size_t i = 0; i < length; ++i) {
        lists[list].push_back({{static_cast<int>(random() % 20), list}});
      }
      std::stable_sort(lists[list].begin(), lists[list].end());
      for (const ByFirst& value : lists[list]) expected.push_back(value.row);
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Row& a, const Row& b) { return a.first < b.first; });
    std::vector<Row> found;
    for (const ByFirst& value : merge_sorted(lists, Workers(1 + count % 3))) {
      found.push_back(value.row);
    }
    CHECK(found == expected);
  }
}

TEST_CASE("rows that room was made for are as new ones are") {
  struct Made {
    int a = 3;
    double b = 0.5;
  };
  for (const std::size_t count : {0, 1, 1000, 2'000'000}) {
    for (const bool may_prepare : {false, true}) {
      std::vector<Made> rows;
      make_room_for(rows, count, Workers(2), may_prepare);
      REQUIRE(rows.size() == count);
      CHECK(std::all_of(rows.begin(), rows.end(),
                        [](const Made& row) { return row.a == 3 && row.b == 0.5; }));
    }
  }
}

}  // namespace uctrace
