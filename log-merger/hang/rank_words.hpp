// Ranks in sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/hang/comm_members.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// "rank 3", "ranks 0-2 and 7"; `any`: "any of ranks 0-2". Of a job with several worlds "rank 3 of
// world 1". Names of at most eight runs of ranks.
std::string rank_words(const Job& job, const RankGroup& group, bool any);
std::string rank_words(const Job& job, ProcessIndex process);

// "0-2, 7", of ascending numbers.
std::string number_runs(const std::vector<std::int32_t>& numbers);

// "1st", "22nd", "113th".
std::string ordinal(std::size_t number);

}  // namespace uctrace::merge
