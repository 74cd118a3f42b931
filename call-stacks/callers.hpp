// The call sites of calls whose stack is not kept: the record has an address, and the log has the
// program and libraries whose code calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/own.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::stacks {

namespace detail {
// Pages of code whose module is in the log, each at the place of its number or at one of a few
// others; 0 = none. A page never spans two modules.
inline constexpr std::size_t kCallerPages = 1024;
inline constexpr unsigned kCodePageBits = 12;
// The wrappers of MPI, which are in C, use its other name.
UCTRACE_OWN extern std::uint64_t caller_pages[kCallerPages] __asm__("uctrace_caller_pages");
void learn_caller(std::uint64_t page);
}  // namespace detail

// Makes sure that the log has the module of the code that a call returns to. Call it before the
// call's start is taken: a call belongs to the newest module at its address that was defined no
// later than the call. Costs 6 instructions for a page that is known, and some microseconds for the
// first call of a module.
UCTRACE_HOT inline void know_caller(std::uint64_t caller) {
  const std::uint64_t page = caller >> detail::kCodePageBits;
  const std::uint64_t& known = detail::caller_pages[page % detail::kCallerPages];
  if (__atomic_load_n(&known, __ATOMIC_RELAXED) != page) [[unlikely]] {
    detail::learn_caller(page);
  }
}

// Code is about to be unloaded: other code may later use its pages.
void forget_callers();

}  // namespace uctrace::stacks
