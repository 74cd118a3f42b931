// The place of a record among those of its thread. Private to the room.
#pragma once

#include <cstdint>
#include <tuple>

namespace uctrace::exports {

struct RecordTime {
  std::int64_t ns = 0;
  std::int64_t call = -1;  // that it is in; -1: in whichever it falls

  // By time; a completion at the same instant comes after its beginning, which is in a call.
  bool operator<(const RecordTime& other) const {
    const auto key = [](const RecordTime& time) {
      return std::tuple(time.ns, static_cast<std::uint64_t>(time.call));
    };
    return key(*this) < key(other);
  }
};

}  // namespace uctrace::exports
