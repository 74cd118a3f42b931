// Ranks in sentences.
#pragma once

#include <cstddef>
#include <string>

#include "log-merger/hang/comm_members.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// "rank 3", "ranks 0-2 and 7"; `any`: "any of ranks 0-2". In a job with several worlds "rank 3 of
// world 1". At most eight runs of ranks are named.
std::string rank_words(const Job& job, const RankGroup& group, bool any);
std::string rank_words(const Job& job, ProcessIndex process);

// "1st", "22nd", "113th".
std::string ordinal(std::size_t number);

}  // namespace uctrace::merge
