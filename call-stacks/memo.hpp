// Remembers call stacks of one thread, so that a stack that comes again costs no unwinding.
//
// A remembered stack holds at which addresses the words lie that decided it, and their values: the
// return address of every frame, and where a frame's end rests on the frame pointer, where that was
// saved. If all of these words are still there, an unwinder would take the same steps: it begins in
// the same code at the same place of the stack (these are the key), and from one frame to the next
// it reads nothing but the tables of the code at the return address, and these words. By the same
// argument each word may be read: as long as the ones before it hold, its frame is there. The
// tables change only when code is unloaded: then all is forgotten.
//
// Stacks with the same key that differ in a word are told apart by that word: the place of the next
// one follows from the value at which the comparison with the last one failed. So any number of
// call sites in one function, or of ways to it, are remembered side by side. A place that a stack
// of another frame has is passed by, too: two stacks that a program takes again and again must not
// drive each other out each time.
//
// Cost: one load and one compare a word, about 1 ns each, for each stack that is looked at: of a
// repeated stack that is one or two.
#pragma once

#include <cstddef>
#include <cstdint>

namespace uctrace::stacks {

// A word of the stack that decides where a frame lies or who its caller is.
struct Check {
  const std::uintptr_t* word;
  std::uintptr_t value;
};

class Memo {
 public:
  struct Found {
    std::uint32_t stack;  // 0: none
    std::size_t place;    // where it is, else where it may be remembered
  };

  // The stack that begins in the frame at `frame`, which returns to `caller`.
  Found find(const std::uintptr_t* frame, std::uintptr_t caller) const {
    std::size_t at = mixed(reinterpret_cast<std::uintptr_t>(frame), caller);
    for (std::size_t tried = 1;; ++tried) {
      const Entry& entry = entries_[at];
      if (entry.frame == nullptr) return {0, at};
      std::uintptr_t decider = caller;
      if (entry.frame == frame) [[likely]] {
        const Check* check = checks_ + entry.first;
        const Check* const end = check + entry.count;
        while (check != end && *check->word == check->value) ++check;
        if (check == end) return {entry.stack, at};
        decider = *check->word ^ static_cast<std::uintptr_t>(check - end);
      }
      if (tried == kTries) return {0, at};
      at = mixed(at + tried, decider);
    }
  }

  // The checks in the order in which an unwinder reads the words. Too many of them, and all that is
  // remembered makes room.
  void remember(std::size_t place, const std::uintptr_t* frame, const Check* checks,
                std::size_t count, std::uint32_t stack) {
    if (count > kChecks) return;
    Entry& entry = entries_[place];
    if (count > entry.room) {
      if (used_ + count > kChecks) forget();
      entry.first = static_cast<std::uint32_t>(used_);
      entry.room = static_cast<std::uint32_t>(count);
      used_ += count;
    }
    for (std::size_t i = 0; i < count; ++i) checks_[entry.first + i] = checks[i];
    entry.frame = frame;
    entry.count = static_cast<std::uint32_t>(count);
    entry.stack = stack;
  }

  void forget() {
    for (Entry& entry : entries_) entry = {};
    used_ = 0;
  }

 private:
  struct Entry {
    const std::uintptr_t* frame;  // nullptr: empty
    std::uint32_t first, count;   // of its checks
    std::uint32_t room;           // for checks, from the first one on: >= count
    std::uint32_t stack;
  };
  static constexpr std::size_t kEntries = 8192;
  static constexpr std::size_t kChecks = 65536;  // pages are taken as they are needed
  static constexpr std::size_t kTries = 16;

  static std::size_t mixed(std::uintptr_t a, std::uintptr_t b) {
    const std::uint64_t product = (a ^ (b << 17 | b >> 47)) * 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(product >> 51);
  }
  static_assert(kEntries == 1 << (64 - 51));

  Entry entries_[kEntries];
  std::size_t used_;
  Check checks_[kChecks];
};

}  // namespace uctrace::stacks
