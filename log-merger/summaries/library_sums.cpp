#include "log-merger/summaries/library_sums.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "log-merger/model/durations.hpp"

namespace uctrace {

void for_each_library_call(const RowSource& source,
                           const std::function<void(const Calls&)>& visit) {
  using Row = LibraryCallRow;
  const Run& run = source.run();
  static const Wanted<Row> kWanted = {&Row::process, &Row::function,   &Row::stack,   &Row::call,
                                      &Row::bytes,   &Row::t_start_ns, &Row::t_end_ns};
  for_each_row(source, kWanted, [&](const Row& call, std::size_t) {
    // Of one inside an MPI call the time is that call's.
    if (call.stack < 0 || call.call >= 0) return;
    visit({call.function, kNoText, call.process, call_site_at(run, call.stack), 1,
           static_cast<std::uint64_t>(std::max<std::int64_t>(0, call.bytes)),
           static_cast<std::uint64_t>(duration_ns(call.t_start_ns, call.t_end_ns)), true});
  });
}

std::vector<LibrarySum> library_sums(const RowSource& source) {
  using Row = LibraryCallRow;
  static const Wanted<Row> kWanted = {
      &Row::library,        &Row::function,        &Row::collective,
      &Row::layers,         &Row::algorithm,       &Row::bytes,
      &Row::operations,     &Row::operation_bytes, &Row::inferred_operations,
      &Row::inferred_bytes, &Row::t_start_ns,      &Row::t_end_ns};
  std::map<std::array<TextId, 5>, LibrarySum> sums;
  for_each_row(source, kWanted, [&](const Row& call, std::size_t) {
    LibrarySum& sum =
        sums[{call.library, call.function, call.collective, call.layers, call.algorithm}];
    sum.library = call.library;
    sum.function = call.function;
    sum.collective = call.collective;
    sum.layers = call.layers;
    sum.algorithm = call.algorithm;
    ++sum.calls;
    if (call.bytes >= 0) {
      sum.bytes += static_cast<std::uint64_t>(call.bytes);
    } else {
      ++sum.calls_without_bytes;
    }
    sum.operations += call.operations;
    sum.operation_bytes += call.operation_bytes;
    sum.inferred_operations += call.inferred_operations;
    sum.inferred_bytes += call.inferred_bytes;
    const std::int64_t ns = duration_ns(call.t_start_ns, call.t_end_ns);
    add_ns(sum.ns, ns);
    sum.max_ns = std::max(sum.max_ns, ns);
  });
  std::vector<LibrarySum> sorted;
  for (const auto& [key, sum] : sums) sorted.push_back(sum);
  const Texts& texts = source.run().texts;
  std::sort(sorted.begin(), sorted.end(), [&](const LibrarySum& a, const LibrarySum& b) {
    return std::tie(b.ns, texts[a.library], texts[a.function], texts[a.collective],
                    texts[a.algorithm]) < std::tie(a.ns, texts[b.library], texts[b.function],
                                                   texts[b.collective], texts[b.algorithm]);
  });
  return sorted;
}

}  // namespace uctrace
