// The rates of a job: the tables of its counters, and their increase per second since the previous
// reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "log-merger/live/live_folder.hpp"
#include "log-merger/reports/counter_tables.hpp"

namespace uctrace::live {

// The column to sort by, largest on top; then by the others in this order.
enum class SortBy : std::uint8_t { bytes_per_s, messages_per_s, bytes, messages };
inline constexpr SortBy kSorts[] = {SortBy::bytes_per_s, SortBy::messages_per_s, SortBy::bytes,
                                    SortBy::messages};
std::string_view name_of(SortBy sort);

// The table `by`, which must not be `all`: rates before totals, by default sorted by bytes per
// second, processes by rank. A rate comes from the difference of two readings modulo 2^64, summed
// over processes: it is never negative. Rows with the same words are merged.
Table rates_table(const Reading& reading, CountersBy by, std::optional<SortBy> sort = {});

}  // namespace uctrace::live
