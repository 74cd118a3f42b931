// Remembers call stacks of one thread, so that a stack that comes again costs no unwinding.
//
// A remembered stack keeps the words that decided it, each as address and value: the return address
// of every frame and, if a frame's end depends on the frame pointer, the saved frame pointer. If
// all of these words are unchanged, an unwinder would take the same steps. It begins in the same
// code at the same place of the stack (these are the key), and from frame to frame it reads nothing
// but these words and the tables of the code at the return address. By the same argument each word
// is safe to read: if the words before it are unchanged, its frame exists. The tables change only
// when code is unloaded: then everything is forgotten.
//
// Stacks with the same key are told apart by the first word that differs: the value at which the
// comparison with one stack failed gives the place of the next one to compare. So any number of
// call sites in a function, or of paths to it, are remembered side by side. A place that belongs to
// a stack of another frame is skipped, too: two stacks that a program takes in turn must not evict
// each other each time.
//
// Cost: one load and one compare a word, about 1 ns each, for each stack that is compared: one or
// two for a repeated stack.
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
    std::size_t place;    // its place, else the place to remember it
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

  // The checks in the order in which an unwinder reads the words. If they do not fit, everything
  // remembered is dropped.
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
