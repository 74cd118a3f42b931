#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "log-merger/registration/call_rules.hpp"
#include "log-merger/registration/inherited.hpp"

using namespace uctrace;
using merge::MemoryCall;
using Function = log::MemoryFunction;

namespace {

using Random = std::mt19937_64;

MemoryCall call(Function function, std::uint64_t begin, std::uint64_t end) {
  MemoryCall made;
  made.function = function;
  made.start_tick = begin;
  made.end_tick = end;
  return made;
}

MemoryCall registration(std::uint64_t begin, std::uint64_t end, std::uint64_t address,
                        std::uint64_t bytes, std::uint64_t key = 1) {
  MemoryCall made = call(Function::uct_md_mem_reg, begin, end);
  made.domain = 7;
  made.address = address;
  made.bytes = bytes;
  made.key = key;
  return made;
}

// Calls of a lane, one after the other and inside each other, as programs make them. Each instant
// is of one call only.
void add_calls(Random& random, std::vector<MemoryCall>& calls, std::uint16_t lane, int depth,
               std::uint64_t& tick) {
  for (unsigned i = 0; i < random() % 4; ++i) {
    const auto functions = static_cast<unsigned>(Function::kCount) - 1;
    MemoryCall made = call(static_cast<Function>(1 + random() % functions), ++tick, 0);
    made.lane = lane;
    made.domain = random() % 2;
    made.domain_name = static_cast<TextId>(made.domain);
    made.key = random() % 3;
    made.address = 1 + random() % 40;
    made.bytes = random() % 8;
    made.status = random() % 8 == 0 ? -1 : 0;
    const std::size_t first_inner = calls.size();
    if (depth < 3) add_calls(random, calls, lane, depth + 1, tick);
    // A function may be implemented by calling a newer one.
    for (std::size_t i = first_inner; i < calls.size(); ++i) {
      if (random() % 2 == 0) continue;
      calls[i].address = made.address;
      calls[i].bytes = made.bytes;
    }
    made.end_tick = ++tick;
    calls.push_back(made);
  }
}

// The call that it is directly inside of: the shortest one around it.
const MemoryCall* naive_caller(const std::vector<MemoryCall>& calls, const MemoryCall& inner) {
  const MemoryCall* caller = nullptr;
  for (const MemoryCall& outer : calls) {
    const bool is_around = outer.lane == inner.lane && outer.start_tick < inner.start_tick &&
                           outer.end_tick > inner.end_tick;
    if (is_around && (caller == nullptr || outer.start_tick > caller->start_tick)) caller = &outer;
  }
  return caller;
}

bool is_registration(const MemoryCall& made) {
  return made.succeeded() && made.action() == log::MemoryAction::registration && !made.repeats;
}

bool naive_first_use(const std::vector<MemoryCall>& calls, const MemoryCall& made) {
  if (!is_registration(made) || made.bytes == 0) return false;
  return std::none_of(calls.begin(), calls.end(), [&](const MemoryCall& other) {
    return is_registration(other) && other.bytes != 0 && other.domain == made.domain &&
           other.start_tick < made.start_tick && other.address < made.address + made.bytes &&
           made.address < other.address + other.bytes;
  });
}

// How many registrations of the handle are there when `made` begins, by counting alone.
std::int64_t naive_open(const std::vector<MemoryCall>& calls, const MemoryCall& made) {
  std::vector<const MemoryCall*> before;
  for (const MemoryCall& other : calls) {
    const bool is_of_it = other.domain == made.domain && other.key == made.key;
    if (is_of_it && other.start_tick < made.start_tick) before.push_back(&other);
  }
  std::sort(before.begin(), before.end(),
            [](const auto* a, const auto* b) { return a->start_tick < b->start_tick; });
  std::int64_t open = 0;
  for (const MemoryCall* other : before) {
    if (other->begins()) ++open;
    if (other->ends() && open > 0) --open;
  }
  return open;
}

}  // namespace

TEST_CASE("calls inside other ones, ends and first uses are as a naive search finds them") {
  Random random(20);
  for (int round = 0; round < 400; ++round) {
    std::vector<MemoryCall> calls;
    std::uint64_t tick = 100;
    for (std::uint16_t lane = 0; lane < 3; ++lane) add_calls(random, calls, lane, 0, tick);
    merge::find_inner_calls(calls);
    for (const MemoryCall& made : calls) {
      const MemoryCall* caller = naive_caller(calls, made);
      CHECK(made.outermost == (caller == nullptr));
      CHECK(made.repeats == (caller != nullptr && caller->action() == made.action() &&
                             caller->domain == made.domain && caller->address == made.address &&
                             caller->bytes == made.bytes));
    }
    const merge::PairedEnds paired = merge::pair_ends(calls);
    std::uint64_t ends = 0, matched = 0, ended = 0;
    for (const MemoryCall& made : calls) {
      ends += made.ends();
      matched += made.ends() && naive_open(calls, made) > 0;
      ended += made.until_tick != UINT64_MAX;
      if (made.until_tick != UINT64_MAX) CHECK(made.begins());
    }
    CHECK(paired.ends == ends);
    CHECK(paired.matched() == matched);
    CHECK(ended == matched);
    merge::find_first_uses(calls);
    for (const MemoryCall& made : calls) CHECK(made.first_use == naive_first_use(calls, made));
  }
}

TEST_CASE("a function that registers by way of its newer form is one registration") {
  std::vector<MemoryCall> calls = {registration(10, 40, 0x1000, 100),
                                   registration(12, 38, 0x1000, 100)};
  calls[1].function = Function::uct_md_mem_reg_v2;
  merge::find_inner_calls(calls);
  CHECK_FALSE(calls[0].repeats);
  CHECK(calls[1].repeats);
  CHECK_FALSE(calls[1].outermost);
  merge::find_first_uses(calls);
  CHECK(calls[0].first_use);
  CHECK_FALSE(calls[1].first_use);
}

TEST_CASE("one handle for several registrations: the oldest ends first") {
  MemoryCall first_end = call(Function::uct_md_mem_dereg, 50, 51);
  first_end.domain = 7;
  first_end.key = 1;
  MemoryCall stray = first_end;
  stray.start_tick = 5;
  stray.end_tick = 6;
  std::vector<MemoryCall> calls = {registration(10, 11, 0x1000, 1), registration(20, 21, 0x2000, 1),
                                   first_end, stray};
  const merge::PairedEnds paired = merge::pair_ends(calls);
  CHECK(paired.ends == 2);
  CHECK(paired.matched() == 1);
  CHECK(calls[1].until_tick == 50);
  CHECK(calls[2].until_tick == UINT64_MAX);
}

TEST_CASE("memory of which a byte was registered is no first use, nor is a range without an end") {
  std::vector<MemoryCall> calls = {
      registration(1, 2, 100, 50),        registration(3, 4, 149, 10),
      registration(5, 6, 159, 10),        registration(7, 8, 0, UINT64_MAX),
      registration(9, 10, UINT64_MAX, 1), registration(11, 12, 90, 11)};
  merge::find_first_uses(calls);
  CHECK(calls[0].first_use);
  CHECK_FALSE(calls[1].first_use);
  CHECK(calls[2].first_use);
  CHECK_FALSE(calls[4].first_use);
  CHECK_FALSE(calls[5].first_use);
}

TEST_CASE("a fork child ends registrations of its parent, each once, and none that began later") {
  MemoryCall attached = registration(4, 5, 0x1000, 1, 2);
  attached.function = Function::uct_md_mem_attach;
  MemoryCall failed = registration(4, 5, 0x1000, 1, 3);
  failed.status = -1;
  const std::vector<MemoryCall> parent = {registration(90, 91, 0x1000, 1),
                                          registration(10, 11, 0x1000, 1), attached, failed};
  const auto end_at = [](std::uint64_t tick, std::uint64_t key) {
    MemoryCall end = registration(tick, tick + 1, 0, 0, key);
    end.function = Function::uct_md_mem_dereg;
    return end;
  };
  const MemoryCall first = end_at(20, 1), second = end_at(30, 1), late = end_at(95, 1),
                   of_attached = end_at(40, 2), of_failed = end_at(50, 3), unknown = end_at(60, 4);
  MemoryCall elsewhere = end_at(70, 2);
  elsewhere.domain = 8;
  CHECK(merge::count_inherited(parent, {}) == 0);
  CHECK(merge::count_inherited(parent, {&first}) == 1);
  CHECK(merge::count_inherited(parent, {&first, &second}) == 1);
  CHECK(merge::count_inherited(parent, {&first, &second, &late}) == 2);
  CHECK(merge::count_inherited(parent, {&of_attached, &of_failed, &unknown, &elsewhere}) == 1);
}
