// The memo of call stacks compared with an oracle that always unwinds, on a stack made of few
// values, so that frames, callers and saved words recur in every combination.
#include "call-stacks/memo.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

namespace uctrace::stacks {
namespace {

// A stack whose frames are as long as the code at the return address says; some rest on a word that
// was saved further in.
struct Stack {
  static constexpr std::size_t kWords = 64;
  std::uintptr_t words[kWords];

  // What an unwinder reads, in its order.
  std::vector<Check> unwind(std::size_t begin) const {
    std::vector<Check> checks;
    std::size_t at = begin, saved = begin;
    while (at < kWords) {
      checks.push_back({&words[at], words[at]});
      const std::uintptr_t code = words[at];
      if (code == 0) break;  // the outermost frame
      if (code == 3) {
        checks.push_back({&words[saved], words[saved]});
        at += 1 + words[saved] % 4;
      } else {
        if (code == 2) saved = at + 1 < kWords ? at + 1 : at;
        at += code + 1;
      }
    }
    return checks;
  }
};

using Words = std::vector<std::pair<std::size_t, std::uintptr_t>>;

Words read_by(const Stack& stack, const std::vector<Check>& checks) {
  Words words;
  for (const Check& check : checks) {
    words.emplace_back(static_cast<std::size_t>(check.word - stack.words), check.value);
  }
  return words;
}

}  // namespace

TEST_CASE("a remembered stack is the one that an unwinder would find") {
  auto memo = std::make_unique<Memo>();
  std::minstd_rand random(4711);
  Stack stack{};
  std::map<Words, std::uint32_t> numbers;  // by all that was read
  std::size_t hits = 0;
  constexpr int kRounds = 300'000;
  for (int round = 0; round < kRounds; ++round) {
    for (auto changes = random() % 4; changes > 0; --changes) {
      stack.words[random() % Stack::kWords] = random() % 4;
    }
    const std::size_t begin = random() % 8;
    const std::vector<Check> truth = stack.unwind(begin);
    const auto [at, fresh] =
        numbers.try_emplace(read_by(stack, truth), static_cast<std::uint32_t>(numbers.size() + 1));
    const Memo::Found found = memo->find(&stack.words[begin], 0);
    if (found.stack != 0) {
      ++hits;
      REQUIRE(found.stack == at->second);
    } else {
      memo->remember(found.place, &stack.words[begin], truth.data(), truth.size(), at->second);
    }
  }
  CHECK(hits > kRounds / 10);
}

TEST_CASE("stacks that begin alike are remembered side by side") {
  auto memo = std::make_unique<Memo>();
  Stack stack{};
  constexpr std::uint32_t kStacks = 500;
  for (int round = 0; round < 2; ++round) {
    std::uint32_t misses = 0;
    for (std::uint32_t i = 1; i <= kStacks; ++i) {
      stack.words[1] = i;
      const Memo::Found found = memo->find(stack.words, 7);
      CHECK((found.stack == 0 || found.stack == i));
      if (found.stack != 0) continue;
      ++misses;
      const Check checks[] = {{&stack.words[0], 0}, {&stack.words[1], i}};
      memo->remember(found.place, stack.words, checks, 2, i);
    }
    CHECK(misses == (round == 0 ? kStacks : 0));
  }
}

TEST_CASE("stacks of different frames do not drive each other out") {
  struct Repeated {
    std::size_t frame;
    std::uintptr_t caller;
  };
  constexpr std::size_t kWords = 4096;
  constexpr std::uint32_t kStacks = 3000;
  auto memo = std::make_unique<Memo>();
  std::vector<std::uintptr_t> words(kWords);
  std::minstd_rand random(7);
  std::vector<Repeated> all(kStacks);
  for (Repeated& one : all) one = {random() % kWords, random()};
  for (int round = 0; round < 4; ++round) {
    std::uint32_t misses = 0;
    for (std::uint32_t i = 0; i < kStacks; ++i) {
      const auto [at, caller] = all[i];
      const std::uintptr_t* frame = &words[at];
      words[at] = caller;
      const Memo::Found found = memo->find(frame, caller);
      CHECK((found.stack == 0 || found.stack == i + 1));
      if (found.stack != 0) continue;
      ++misses;
      const Check checks[] = {{frame, caller}};
      memo->remember(found.place, frame, checks, 1, i + 1);
    }
    if (round > 0) CHECK(misses == 0);
  }
}

TEST_CASE("what takes the place of another stack takes its room as well") {
  auto memo = std::make_unique<Memo>();
  const std::vector<std::uintptr_t> words(100);
  std::vector<Check> checks;
  for (const std::uintptr_t& word : words) checks.push_back({&word, 0});
  const Memo::Found kept = memo->find(&words[1], 1);
  memo->remember(kept.place, &words[1], checks.data(), 1, 1);
  const std::size_t place = memo->find(&words[0], 2).place;
  REQUIRE(place != kept.place);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    memo->remember(place, &words[0], checks.data(), checks.size(), 2 + i);
  }
  CHECK(memo->find(&words[1], 1).stack == 1);
}

TEST_CASE("what is forgotten is not found, and room is made when it is full") {
  auto memo = std::make_unique<Memo>();
  std::vector<std::uintptr_t> words(200);
  std::vector<Check> checks;
  for (const std::uintptr_t& word : words) checks.push_back({&word, 0});
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    const Memo::Found found = memo->find(words.data(), i);
    if (found.stack == 0) {
      memo->remember(found.place, words.data(), checks.data(), checks.size(), i);
    }
  }
  const Memo::Found last = memo->find(words.data(), 1000);
  CHECK(last.stack != 0);
  memo->forget();
  CHECK(memo->find(words.data(), 1000).stack == 0);
}

}  // namespace uctrace::stacks
