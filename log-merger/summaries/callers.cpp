#include "log-merger/summaries/callers.hpp"

#include <algorithm>
#include <iterator>

namespace uctrace {

Callers::Callers(const RowSource& source) {
  for_each_row<MpiCallRow>(source, {&MpiCallRow::process},
                           [&](const MpiCallRow& call, std::size_t number) {
                             const auto process = static_cast<std::int32_t>(call.process);
                             if (blocks_.empty() || blocks_.back().process != process) {
                               blocks_.push_back({static_cast<std::int64_t>(number), process});
                             }
                           });
}

std::int32_t Callers::process_of(std::int64_t call) const {
  const auto behind = std::upper_bound(
      blocks_.begin(), blocks_.end(), call,
      [](std::int64_t number, const Block& block) { return number < block.first; });
  return std::prev(behind)->process;
}

}  // namespace uctrace
