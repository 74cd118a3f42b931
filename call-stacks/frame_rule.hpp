// What the unwind tables say about the frame of the code at an address: where the frame ends, and
// where the caller's return address and frame pointer are saved.
//
// The unwinder applies these rules; the memo needs the rules themselves. Only they tell which
// registers a frame depends on, and so which words of the stack must be unchanged for the frame to
// be in the same place again (memo.hpp).
#pragma once

#include <cstdint>

namespace uctrace::stacks {

struct FrameRule {
  // The base from which the end of the frame (the canonical frame address) is counted.
  enum class Base : std::uint8_t {
    unknown,        // something else: such a stack is not remembered
    none,           // the code has no unwind tables
    outermost,      // nobody called it
    stack_pointer,  // end = stack pointer + offset
    frame_pointer,  // end = frame pointer + offset
    stored,         // end = word at frame pointer + offset: code that aligns its stack
  };
  // Where the caller's frame pointer was saved.
  enum class Saved : std::uint8_t { no, at_end, at_frame_pointer };

  Base base = Base::none;
  Saved frame_pointer_saved = Saved::no;
  std::int64_t offset = 0;
  std::int64_t return_address_at = 0;  // counted from the end of the frame
  std::int64_t frame_pointer_at = 0;   // counted from the end, or from the frame pointer
};

// The rule for the instruction at `pc`. Some microseconds: the loader is asked for the tables.
FrameRule frame_rule(std::uintptr_t pc);

}  // namespace uctrace::stacks
