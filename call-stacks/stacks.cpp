#include "call-stacks/stacks.hpp"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "call-stacks/frame_rule.hpp"
#include "call-stacks/memo.hpp"
#include "call-stacks/modules.hpp"
#include "call-stacks/stack_numbers.hpp"
#include "call-stacks/walk.hpp"

namespace uctrace::stacks {

namespace {

constinit log::StackMode mode = log::StackMode::off;

// Room beyond kMaxStackFrames: for uctrace's own frames, and for one that shows that there are
// more.
constexpr std::size_t kMaxWalked = log::kMaxStackFrames + 16;
// For each frame a return address and, at most, a saved frame pointer and a stored end.
constexpr std::size_t kMaxChecks = 3 * kMaxWalked;

// The memory of a lane. Threads that borrow the lane one after the other can share it: a word is
// compared only if the words before it prove that it is part of the stack.
struct LaneMemo {
  std::uint32_t log_number;
  std::uint32_t generation;
  bool busy;  // set: a signal handler that interrupts takes no stack
  Memo memo;
};

constinit LaneMemo* memos[log::kMaxLanes]{};

// Holds a number of a log: a fork child must not wait for a thread that it does not have.
constinit std::atomic<std::uint32_t> prepared_log{0};
constinit std::atomic<std::uint32_t> preparing{0};
constinit log::Unwinder unwinder = log::Unwinder::none;

__attribute__((constructor)) void set_up() {
  const char* text = getenv("UCTRACE_STACKS");
  if (text == nullptr) return;
  mode = strcmp(text, "all") == 0   ? log::StackMode::all
         : strcmp(text, "mpi") == 0 ? log::StackMode::mpi
                                    : log::StackMode::off;
  if (mode == log::StackMode::off) return;
  log::want(mode == log::StackMode::all ? log::kWantStacks | log::kWantAllStacks
                                        : log::kWantStacks);
  open_unwinder();
}

// Runs once per log, on the first thread that takes a stack. Other threads wait for it, but not for
// ever: it may itself wait for the loader while the loader runs one of them. False: it took too
// long.
bool prepare() {
  constexpr int kPatience = 10000;
  const std::uint32_t log_number = log::log_number();
  if (prepared_log.load(std::memory_order_acquire) == log_number) return true;
  if (preparing.exchange(log_number, std::memory_order_acq_rel) == log_number) {
    for (int i = 0; i < kPatience; ++i) {
      if (prepared_log.load(std::memory_order_acquire) == log_number) return true;
      sched_yield();
    }
    return false;
  }
  if (unwinder == log::Unwinder::none) unwinder = find_unwinder();
  is_own_code(0);  // measures it, before several threads ask
  forget_numbers();
  log::set_stacks(mode, unwinder);
  prepared_log.store(log_number, std::memory_order_release);
  return true;
}

// UCM patches mmap to watch the program's memory; it must not see ours.
LaneMemo* make_memo() {
  const long at = syscall(SYS_mmap, nullptr, sizeof(LaneMemo), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == -1 ? nullptr : reinterpret_cast<LaneMemo*>(at);
}

struct Walked {
  Frame frames[kMaxWalked];
  std::size_t count;
};

// The checks of a stack, in the order in which an unwinder reads the words.
class Checks {
 public:
  void add(std::uintptr_t word) {
    const auto* at = reinterpret_cast<const std::uintptr_t*>(word);
    checks_[count_++] = {at, *at};
  }
  const Check* data() const { return checks_; }
  std::size_t count() const { return count_; }

 private:
  Check checks_[kMaxChecks];
  std::size_t count_ = 0;
};

std::uintptr_t word_at(std::uintptr_t address) {
  return *reinterpret_cast<const std::uintptr_t*>(address);
}

// A return address without the signature that aarch64 may put into it.
std::uintptr_t plain(std::uintptr_t address) {
#if defined(__aarch64__)
  return address & 0x0000ffffffffffffU;
#else
  return address;
#endif
}

// Follows the frames from `at` on by the rules of their code, and collects the words that the rules
// read. False: a frame is not understood, or the unwinder went elsewhere.
class Follower {
 public:
  // `own_frame_pointer` is where our frame saved its caller's.
  Follower(Walked& walked, std::uintptr_t own_frame_pointer, Checks& checks)
      : walked_(walked), saved_frame_pointer_(own_frame_pointer), checks_(checks) {}

  // Cuts the frames after one without unwind tables: an unwinder only guesses these.
  bool follow(std::size_t at) {
    for (;; ++at) {
      const Frame& frame = walked_.frames[at];
      const FrameRule rule = frame_rule(frame.interrupted ? frame.pc : frame.pc - 1);
      if (rule.base == FrameRule::Base::none) {
        lost_ = true;
        walked_.count = at + 1;
        return !frame.interrupted;
      }
      if (rule.base == FrameRule::Base::outermost) {
        walked_.count = at + 1;
        return true;
      }
      if (at + 1 >= walked_.count) return walked_.count == kMaxWalked;
      if (frame.interrupted || !pass(frame, rule, walked_.frames[at + 1])) return false;
    }
  }
  bool lost() const { return lost_; }

 private:
  bool pass(const Frame& frame, const FrameRule& rule, const Frame& caller) {
    const bool rests_on_frame_pointer =
        rule.base == FrameRule::Base::frame_pointer || rule.base == FrameRule::Base::stored;
    if (rests_on_frame_pointer) checks_.add(saved_frame_pointer_);
    const std::uintptr_t frame_pointer = word_at(saved_frame_pointer_);
    const auto offset = static_cast<std::uintptr_t>(rule.offset);
    std::uintptr_t end = 0;
    if (rule.base == FrameRule::Base::stack_pointer) {
      end = frame.stack_pointer + offset;
    } else if (rule.base == FrameRule::Base::frame_pointer) {
      end = frame_pointer + offset;
    } else if (rule.base == FrameRule::Base::stored &&
               lies_in(frame_pointer + offset, frame, caller)) {
      checks_.add(frame_pointer + offset);
      end = word_at(frame_pointer + offset);
    }
    if (end != caller.stack_pointer) return false;
    const std::uintptr_t return_word = end + static_cast<std::uintptr_t>(rule.return_address_at);
    if (!lies_in(return_word, frame, caller) || plain(word_at(return_word)) != caller.pc) {
      return false;
    }
    checks_.add(return_word);
    return note_saved(rule, frame_pointer, frame, caller);
  }

  bool note_saved(const FrameRule& rule, std::uintptr_t frame_pointer, const Frame& frame,
                  const Frame& caller) {
    if (rule.frame_pointer_saved == FrameRule::Saved::no) return true;
    const bool at_end = rule.frame_pointer_saved == FrameRule::Saved::at_end;
    saved_frame_pointer_ = (at_end ? caller.stack_pointer : frame_pointer) +
                           static_cast<std::uintptr_t>(rule.frame_pointer_at);
    return lies_in(saved_frame_pointer_, frame, caller);
  }

  // Only words inside the frame itself are read.
  static bool lies_in(std::uintptr_t word, const Frame& frame, const Frame& caller) {
    return word >= frame.stack_pointer && word < caller.stack_pointer && word % 8 == 0;
  }

  Walked& walked_;
  std::uintptr_t saved_frame_pointer_;
  Checks& checks_;
  bool lost_ = false;
};

// The frame of take(): the words that lead to its caller's frame.
struct Beginning {
  const std::uintptr_t* frame;  // of take(): the caller's frame pointer, then its return address
  std::uintptr_t end;           // of that frame
};

std::size_t first_behind(const Walked& walked, const Beginning& beginning) {
  std::size_t at = 0;
  while (at < walked.count && walked.frames[at].stack_pointer != beginning.end) ++at;
  return at;
}

// The frames for the log: those from the program's on, without ours.
struct Addresses {
  std::uint64_t values[log::kMaxStackFrames];
  std::size_t count = 0;
  std::uint16_t flags = 0;
};

void collect(const Walked& walked, std::size_t from, Addresses& addresses) {
  for (std::size_t i = from; i < walked.count; ++i) {
    const Frame& frame = walked.frames[i];
    const std::uintptr_t behind = frame.interrupted ? frame.pc + 1 : frame.pc;
    if (is_own_code(behind - 1)) continue;
    if (addresses.count == log::kMaxStackFrames) {
      addresses.flags |= log::Stack::kTruncated;
      return;
    }
    addresses.values[addresses.count++] = behind;
  }
  if (walked.count == kMaxWalked) addresses.flags |= log::Stack::kTruncated;
}

// A new stack: several microseconds.
[[gnu::noinline, gnu::cold]] std::uint32_t unwind(log::Lane& lane, LaneMemo& mine,
                                                  const Beginning& beginning, std::size_t place) {
  const int saved_errno = errno;
  ++lane.counters().stacks_unwound;
  Walked walked;
  walked.count = walk(unwinder, walked.frames, kMaxWalked);
  const std::size_t first = first_behind(walked, beginning);
  std::uint32_t stack = 0;
  if (first < walked.count) {
    Checks checks;
    checks.add(reinterpret_cast<std::uintptr_t>(beginning.frame + 1));
    Follower follower(walked, reinterpret_cast<std::uintptr_t>(beginning.frame), checks);
    const bool understood = follower.follow(first);
    Addresses addresses;
    collect(walked, first, addresses);
    if (follower.lost()) addresses.flags |= log::Stack::kLost;
    if ((addresses.flags & log::Stack::kTruncated) != 0) ++lane.counters().stacks_truncated;
    define_new_modules();
    stack = number_of(lane, {addresses.values, addresses.count}, addresses.flags, mine.generation);
    if (understood && stack != 0) {
      mine.memo.remember(place, beginning.frame, checks.data(), checks.count(), stack);
    }
  }
  errno = saved_errno;
  return stack;
}

// The memory of a lane, emptied if its content is of another log or of unloaded code.
[[gnu::noinline, gnu::cold]] LaneMemo* renew(log::Lane& lane) {
  const int saved_errno = errno;
  LaneMemo*& place = memos[lane.index];
  if (place == nullptr) place = make_memo();
  LaneMemo* mine = place;
  if (mine != nullptr && mine->log_number != log::log_number()) mine->busy = false;
  if (mine == nullptr || mine->busy) {
    errno = saved_errno;
    return nullptr;
  }
  mine->busy = true;
  const bool ready = prepare();
  if (ready) {
    mine->memo.forget();
    mine->generation = code_generation();
    mine->log_number = log::log_number();
  }
  mine->busy = false;
  errno = saved_errno;
  return ready ? mine : nullptr;
}

}  // namespace

std::uint32_t take(log::Lane& lane) {
  // This also makes the compiler save the caller's frame pointer at a known place.
  const auto* frame = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
  ++lane.counters().stacks_captured;
  LaneMemo* mine = memos[lane.index];
  if (mine == nullptr || mine->log_number != log::log_number() ||
      mine->generation != code_generation()) [[unlikely]] {
    mine = renew(lane);
  }
  if (mine == nullptr || mine->busy) [[unlikely]] {
    ++lane.counters().stacks_skipped;
    return 0;
  }
  mine->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const Memo::Found found = mine->memo.find(frame, frame[1]);
  std::uint32_t stack = found.stack;
  if (stack == 0) [[unlikely]] {
    const Beginning beginning{frame, reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa())};
    stack = unwind(lane, *mine, beginning, found.place);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  mine->busy = false;
  return stack;
}

}  // namespace uctrace::stacks
