// Where the program calls from, of calls whose stack is not kept: an address in the record, and in
// the log the program and libraries whose code calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/own.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::stacks {

namespace detail {
// Pages of code whose module is in the log, each at the place of its number or at one of a few
// others; 0 = none. All of a page lies in one module.
inline constexpr std::size_t kCallerPages = 1024;
inline constexpr unsigned kCodePageBits = 12;
UCTRACE_OWN extern std::uint64_t caller_pages[kCallerPages];
void learn_caller(std::uint64_t page);
}  // namespace detail

// Sees to it that the log has the module of the code that a call returns to. To be called before
// the call's start is taken: the newest module with an address that is not later is the call's.
// Costs 6 instructions for a page that is known, and some microseconds for the first call of a
// module.
UCTRACE_HOT inline void know_caller(std::uint64_t caller) {
  const std::uint64_t page = caller >> detail::kCodePageBits;
  const std::uint64_t& known = detail::caller_pages[page % detail::kCallerPages];
  if (__atomic_load_n(&known, __ATOMIC_RELAXED) != page) [[unlikely]] {
    detail::learn_caller(page);
  }
}

// Code is about to be unloaded: other code may come to lie in its pages.
void forget_callers();

}  // namespace uctrace::stacks
