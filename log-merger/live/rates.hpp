// How fast a job counts: what the tables of its counters say, and what of it came since the reading
// before, a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "log-merger/live/live_folder.hpp"
#include "log-merger/reports/counter_tables.hpp"

namespace uctrace::live {

// Which column comes first, the greatest on top; the others follow in this order.
enum class SortBy : std::uint8_t { bytes_per_s, messages_per_s, bytes, messages };
inline constexpr SortBy kSorts[] = {SortBy::bytes_per_s, SortBy::messages_per_s, SortBy::bytes,
                                    SortBy::messages};
std::string_view name_of(SortBy sort);

// The table `by`, not `all`: rates in front of the totals, sorted by bytes a second, processes by
// rank, where nothing else is asked for. A number of the table
// is the difference of two readings modulo 2^64, summed over processes: it is never negative. Rows
// of the same words are one.
Table rates_table(const Reading& reading, CountersBy by, std::optional<SortBy> sort = {});

}  // namespace uctrace::live
