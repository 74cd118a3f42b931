#include "log-merger/model/memory_call_rows.hpp"

#include <cstddef>
#include <iterator>

namespace uctrace {

const char* name_of(MemoryCallAction action) {
  static constexpr const char* kNames[] = {
      "none",        "registration",    "attachment",    "deregistration",
      "key_packing", "key_unpacking",   "key_release",   "mapping",
      "unmapping",   "kernel_endpoint", "kernel_memory", "kernel_release"};
  const auto place = static_cast<std::size_t>(action);
  return place < std::size(kNames) ? kNames[place] : "?";
}

}  // namespace uctrace
