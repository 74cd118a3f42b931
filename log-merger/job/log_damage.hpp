// What of a log cannot be read.
#pragma once

#include <cstdint>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Chunks, records and tails of lanes: events may have been in each of them.
inline std::uint64_t unreadable_parts(const ProcessLog& log) {
  const log::Damage& damage = log.file.damage();
  return damage.bad_chunks + damage.bad_records + damage.unreadable_tails + damage.missing_chunks;
}

}  // namespace uctrace::merge
