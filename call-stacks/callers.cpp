#include "call-stacks/callers.hpp"

#include <errno.h>

#include <atomic>

#include "call-stacks/modules.hpp"
#include "event-log/recorder/new_log.hpp"

namespace uctrace::stacks {

namespace detail {
constinit std::uint64_t caller_pages[kCallerPages]{};
}  // namespace detail

namespace {

// Pages with the same first place use further ones; the stride is coprime to the number of places.
constexpr std::size_t kTries = 4, kStride = 251;

std::uint64_t& place_of(std::uint64_t page, std::size_t attempt) {
  return detail::caller_pages[(page + attempt * kStride) % detail::kCallerPages];
}

std::uint64_t load(const std::uint64_t& place) { return __atomic_load_n(&place, __ATOMIC_SEQ_CST); }
void store(std::uint64_t& place, std::uint64_t page) {
  __atomic_store_n(&place, page, __ATOMIC_SEQ_CST);
}

// The first free place, else the page's first place. nullptr: the page is known.
std::uint64_t* find_room(std::uint64_t page) {
  std::uint64_t* room = nullptr;
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    std::uint64_t& place = place_of(page, attempt);
    const std::uint64_t there = load(place);
    if (there == page) return nullptr;
    if (there == 0 && room == nullptr) room = &place;
  }
  return room != nullptr ? room : &place_of(page, 0);
}

// Code that is unloaded meanwhile is not noted, in whatever order the two threads go on: either
// this one sees the other in dlclose(), or the other clears what this one stored.
void note(std::uint64_t& place, std::uint64_t page, std::uint32_t generation) {
  if (is_unloading()) return;
  store(place, page);
  if (is_unloading() || code_generation() != generation) store(place, 0);
}

}  // namespace

namespace detail {
[[gnu::noinline, gnu::cold]] void learn_caller(std::uint64_t page) {
  if (log::log_number() == 0 || !log::keeps_records()) return;
  std::uint64_t* room = find_room(page);
  if (room == nullptr) return;
  const int saved_errno = errno;
  log::at_new_log(forget_callers);
  const std::uint32_t generation = code_generation();
  if (define_new_modules()) note(*room, page, generation);
  errno = saved_errno;
}
}  // namespace detail

// Called once for each library when a process ends: clear places cost no store.
void forget_callers() {
  for (std::uint64_t& page : detail::caller_pages) {
    if (load(page) != 0) store(page, 0);
  }
}

}  // namespace uctrace::stacks
