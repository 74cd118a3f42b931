// Texts on why records were dropped and how to prevent it. For `record`, `info` and its notes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "event-log/format/kinds.hpp"

namespace uctrace {

using DropCounts = std::array<std::uint64_t, log::kDropCauses>;

struct DropWords {
  std::string why, to_do;
};

// The cause's name in JSON.
const char* name_of(log::DropCause cause);

// Includes `write_errno`, the first error of the log, if it belongs to this cause.
DropWords drop_words(log::DropCause cause, std::uint32_t write_errno,
                     const std::string& file_system);

// Those that occurred.
std::vector<log::DropCause> causes_in(const DropCounts& counts);

}  // namespace uctrace
