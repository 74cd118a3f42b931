// The unreadable parts of a log.
#pragma once

#include <cstdint>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Chunks, records and tails of lanes that may have contained events.
inline std::uint64_t unreadable_parts(const ProcessLog& log) {
  const log::Damage& damage = log.file.damage();
  return damage.bad_chunks + damage.bad_records + damage.unreadable_tails + damage.missing_chunks;
}

}  // namespace uctrace::merge
