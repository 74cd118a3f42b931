// Entries of open interfaces: found only while they are open, and reused afterwards.
#include "uct-shim/interface_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace uctrace::uct {
namespace {

uct_iface_h handle_at(std::size_t place) { return reinterpret_cast<uct_iface_h>((place + 1) * 64); }

Interface* open(uct_iface_h handle) {
  Interface* const entry = take_entry();
  if (entry == nullptr) return nullptr;
  entry->handle = handle;
  if (show(*entry)) return entry;
  give_back(*entry);
  return nullptr;
}

void close(Interface* entry) {
  hide(*entry);
  give_back(*entry);
}

}  // namespace

TEST_CASE("interfaces are found as in a map, however many come and go") {
  constexpr std::size_t kAddresses = 100'000, kAtOnce = 300;
  std::mt19937 random(5);
  std::map<uct_iface_h, Interface*> opened;
  std::vector<uct_iface_h> order;
  for (int step = 0; step < 300'000; ++step) {
    const uct_iface_h handle = handle_at(random() % kAddresses);
    if (opened.contains(handle) || order.size() == kAtOnce) {
      const std::size_t which = random() % order.size();
      close(opened.at(order[which]));
      opened.erase(order[which]);
      std::swap(order[which], order.back());
      order.pop_back();
    } else {
      Interface* const entry = open(handle);
      REQUIRE(entry != nullptr);
      opened[handle] = entry;
      order.push_back(handle);
    }
    const uct_iface_h other = handle_at(random() % kAddresses);
    const auto found = opened.find(other);
    REQUIRE(find_open_interface(other) == (found == opened.end() ? nullptr : found->second));
  }
  std::set<std::uint16_t> ids;
  for (const auto& [handle, entry] : opened) {
    REQUIRE(find_open_interface(handle) == entry);
    ids.insert(entry->id);
    close(entry);
  }
  CHECK(ids.size() == opened.size());
  CHECK_FALSE(ids.contains(0));
  // No entry is left that a search would have to skip.
  CHECK(std::all_of(std::begin(detail::interface_places), std::end(detail::interface_places),
                    [](const detail::InterfacePlace& place) { return place.key == nullptr; }));
}

TEST_CASE("interfaces that stay open do not keep the keys of those that were closed") {
  constexpr std::size_t kStay = 1000, kComeAndGo = 20, kSteps = 400'000;
  std::mt19937_64 random(11);
  const auto anywhere = [&] { return handle_at(random() % (std::size_t{1} << 40)); };
  std::vector<Interface*> stay, others;
  for (std::size_t i = 0; i < kStay; ++i) stay.push_back(open(anywhere()));
  for (std::size_t i = 0; i < kComeAndGo; ++i) others.push_back(open(anywhere()));
  for (std::size_t step = 0; step < kSteps; ++step) {
    Interface*& one = others[random() % kComeAndGo];
    close(one);
    one = open(anywhere());
    REQUIRE(one != nullptr);
  }
  for (const Interface* entry : stay) REQUIRE(find_open_interface(entry->handle) == entry);
  const auto keys =
      std::count_if(std::begin(detail::interface_places), std::end(detail::interface_places),
                    [](const detail::InterfacePlace& place) { return place.key != nullptr; });
  CHECK(keys < 2 * (kStay + kComeAndGo));
  for (Interface* entry : stay) close(entry);
  for (Interface* entry : others) close(entry);
}

TEST_CASE("one that was closed past us makes room for what is opened at its address") {
  Interface* const first = open(handle_at(1));
  REQUIRE(first != nullptr);
  Interface* const second = open(handle_at(1));
  REQUIRE(second != nullptr);
  CHECK(second->id != first->id);
  CHECK(find_open_interface(handle_at(1)) == second);
  close(second);
  CHECK(find_open_interface(handle_at(1)) == nullptr);
}

TEST_CASE("as many as there are entries are open at a time, and again") {
  for (int round = 0; round < 2; ++round) {
    std::vector<Interface*> all;
    for (std::size_t i = 0; i < kMaxInterfaces; ++i) {
      all.push_back(open(handle_at(i + 1000 * static_cast<std::size_t>(round))));
      REQUIRE(all.back() != nullptr);
    }
    CHECK(open(handle_at(50'000)) == nullptr);
    CHECK(find_open_interface(handle_at(50'000)) == nullptr);
    for (Interface* entry : all) close(entry);
  }
}

}  // namespace uctrace::uct
