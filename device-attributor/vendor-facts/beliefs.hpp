// The memory types of UCX: their names in outputs, who reaches such memory, and UCX's numbers for
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "event-log/format/device_kinds.hpp"

namespace uctrace::gpu {

// Who can reach the memory; this decides how UCX moves it.
enum class Reach : std::uint8_t { unknown, host, device, managed };

struct BeliefFacts {
  log::Belief belief;
  const char* name;
  Reach reach;
};

inline constexpr BeliefFacts kBeliefs[] = {
    {log::Belief::not_asked, "", Reach::unknown},
    {log::Belief::host, "host", Reach::host},
    {log::Belief::cuda, "cuda", Reach::device},
    {log::Belief::cuda_managed, "cuda_managed", Reach::managed},
    {log::Belief::rocm, "rocm", Reach::device},
    {log::Belief::rocm_managed, "rocm_managed", Reach::managed},
    {log::Belief::level_zero_host, "level_zero_host", Reach::host},
    {log::Belief::level_zero_device, "level_zero_device", Reach::device},
    {log::Belief::level_zero_managed, "level_zero_managed", Reach::managed},
    {log::Belief::other, "other", Reach::unknown},
};
static_assert(std::size(kBeliefs) == static_cast<std::size_t>(log::Belief::kCount));

constexpr const BeliefFacts& facts_of(log::Belief belief) {
  return kBeliefs[static_cast<std::size_t>(belief)];
}

// By the number of ucs_memory_type_t, to which new types were appended.
inline constexpr log::Belief kUcxMemoryTypes[] = {
    log::Belief::host,
    log::Belief::cuda,
    log::Belief::cuda_managed,
    log::Belief::rocm,
    log::Belief::rocm_managed,
    log::Belief::other,  // memory of a network card
    log::Belief::level_zero_host,
    log::Belief::level_zero_device,
    log::Belief::level_zero_managed,
    log::Belief::other,  // of Gaudi
};

}  // namespace uctrace::gpu
