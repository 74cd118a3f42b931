// Stacks of calls of which only the caller is known. A part of load_processes().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class CallerStacks {
 public:
  explicit CallerStacks(ProcessLog& log) : log_(log) {}

  // Once all modules are known.
  void finish_definitions();

  // The id of a stack of one frame, shared by all calls that return to this address with the same
  // modules loaded; 0 = no caller. Ids count down from the top: stacks of the log count from 1.
  std::uint32_t stack_of(std::uint64_t caller, std::uint64_t tick);

 private:
  ProcessLog& log_;
  std::vector<std::uint64_t> module_ticks_;
  std::map<std::pair<std::uint64_t, std::ptrdiff_t>, std::uint32_t> callers_;
};

}  // namespace uctrace::merge
