// Lists of ranks for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace uctrace {

// "0-2, 7", of ascending numbers: at most eight runs of them. "0-2, 7 and 3 more": `unnamed` are
// counted only, or there are further runs.
std::string number_runs(const std::vector<std::int64_t>& numbers, std::uint64_t unnamed = 0);

}  // namespace uctrace
