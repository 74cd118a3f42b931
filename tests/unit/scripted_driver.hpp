// A GPU driver whose memory is set by the test, and which logs its queries; and an attributor that
// queries it. State of one test program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device-attributor/attributor.hpp"

namespace uctrace::gpu::scripted {

using log::DeviceMemoryKind;

inline std::map<std::uintptr_t, Answer> allocations;
inline unsigned queries, checks;
inline int failure, check_failure;
inline bool tells_extent, has_room;
inline std::vector<MemoryId> defined;
inline std::vector<std::size_t> extents;  // of these
inline std::vector<std::pair<MemoryId, MemoryEnd>> ended;
inline std::vector<int> failed;
inline unsigned given_up;

inline const Answer* find_allocation(std::uintptr_t address) {
  const auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) return nullptr;
  const Answer& answer = std::prev(next)->second;
  return address - answer.begin < answer.bytes ? &answer : nullptr;
}

inline void (*meanwhile)(std::uintptr_t address) = nullptr;
inline Attributor* freeing;

inline Answer query(std::uintptr_t address) {
  ++queries;
  if (meanwhile != nullptr) meanwhile(address);
  if (failure != 0) return {.what = Answer::What::failed, .error = failure};
  const Answer* answer = find_allocation(address);
  Answer told = answer != nullptr ? *answer : Answer{.what = Answer::What::host};
  told.bytes *= tells_extent;
  return told;
}

inline int buffer_id(std::uintptr_t address, std::uint64_t& id) {
  ++checks;
  const Answer* answer = find_allocation(address);
  id = answer != nullptr && check_failure == 0 ? answer->buffer_id : 0;
  return check_failure;
}

inline constexpr Vendor kScripted{.name = log::Vendor::cuda,
                                  .library = "",
                                  .resolve = nullptr,
                                  .version = nullptr,
                                  .device_count = nullptr,
                                  .describe = nullptr,
                                  .query = query,
                                  .buffer_id = buffer_id};

inline constexpr Listener kListener{
    .defined =
        [](MemoryId memory, const Answer& answer) {
          if (!has_room) return false;
          defined.push_back(memory);
          extents.push_back(answer.bytes);
          return true;
        },
    .ended = [](MemoryId memory, MemoryEnd end) { ended.emplace_back(memory, end); },
    .failed = [](int error) { failed.push_back(error); },
    .gave_up_history = [] { ++given_up; }};

struct Fixture {
  Fixture() {
    allocations.clear();
    queries = checks = 0;
    failure = check_failure = 0;
    tells_extent = has_room = true;
    given_up = 0;
    defined.clear();
    extents.clear();
    ended.clear();
    failed.clear();
    attributor->use(kScripted, kListener);
  }

  void allocate(std::uintptr_t begin, std::size_t bytes, std::uint64_t id,
                DeviceMemoryKind kind = DeviceMemoryKind::device, int device = 0) {
    allocations[begin] = {.what = Answer::What::known,
                          .kind = kind,
                          .device = device,
                          .begin = begin,
                          .bytes = bytes,
                          .buffer_id = id};
  }
  MemoryId memory(std::uintptr_t address) { return attributor->memory_of(address); }

  std::unique_ptr<Attributor> attributor = std::make_unique<Attributor>();
};

}  // namespace uctrace::gpu::scripted
