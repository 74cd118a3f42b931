// Indexes of rows: numbers at no cost, and each of its own kind only.
#include "log-merger/model/index.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <unordered_map>
#include <utility>

namespace uctrace::merge {
namespace {

static_assert(sizeof(UcpIndex) == 4);
static_assert(std::is_trivially_copyable_v<UcpIndex>);
static_assert(!std::is_convertible_v<UctIndex, UcpIndex>);
static_assert(!std::is_constructible_v<UcpIndex, UctIndex>);
static_assert(!std::is_convertible_v<int, UcpIndex>);
static_assert(!std::is_convertible_v<UcpIndex, int>);
static_assert(!std::is_constructible_v<bool, UcpIndex>);
static_assert(std::is_convertible_v<None, UcpIndex>);

template <typename A, typename B>
concept Comparable = requires(A a, B b) {
  a == b;
};
static_assert(Comparable<UcpIndex, UcpIndex> && Comparable<UcpIndex, None>);
static_assert(!Comparable<UcpIndex, UctIndex> && !Comparable<UcpIndex, int>);

template <typename Vector, typename Index>
concept AddressedBy = requires(Vector vector, Index index) {
  vector[index];
};
static_assert(AddressedBy<ByIndex<UcpOp, int>, UcpIndex>);
static_assert(!AddressedBy<ByIndex<UcpOp, int>, UctIndex>);
static_assert(AddressedBy<ByIndex<UcpOp, int>, std::size_t>);

TEST_CASE("an index is none until it is set, and comes before all others then") {
  UcpIndex index;
  CHECK((index == kNone));
  CHECK(index.number() == -1);
  CHECK((index < UcpIndex(0)));
  index = UcpIndex(3);
  CHECK((index != kNone));
  CHECK(index.place() == 3);
  index = kNone;
  CHECK((index == UcpIndex()));
}

TEST_CASE("what there is for each row is addressed by its index") {
  ByIndex<UcpOp, int> values;
  for (const int value : {7, 8, 9}) {
    const UcpIndex next = values.next_index();
    values.push_back(value);
    CHECK(std::as_const(values)[next] == value);
  }
  for (const UcpIndex index : values.indexes()) values[index] += 10;
  CHECK((values == ByIndex<UcpOp, int>{17, 18, 19}));
  CHECK((Indexes<UcpOp>(1, 3).list() == std::vector{UcpIndex(1), UcpIndex(2)}));
}

TEST_CASE("indexes are keys") {
  std::unordered_map<UcpIndex, int> values{{UcpIndex(2), 5}, {kNone, 6}};
  CHECK(values.at(UcpIndex(2)) == 5);
  CHECK(values.at(kNone) == 6);
  CHECK_FALSE(values.contains(UcpIndex(0)));
}

}  // namespace
}  // namespace uctrace::merge
