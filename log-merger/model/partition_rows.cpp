#include "log-merger/model/partition_rows.hpp"

#include <iterator>

namespace uctrace {

const char* name_of(PartitionMatch match) {
  static constexpr const char* kNames[] = {"matched", "no_partner", "records_missing",
                                           "order_unclear", "sizes_differ"};
  const auto place = static_cast<std::size_t>(match);
  return place < std::size(kNames) ? kNames[place] : "?";
}

const char* name_of(PartitionEventKind kind) {
  static constexpr const char* kNames[] = {"psend_init",    "precv_init",     "pready",
                                           "parrived",      "ptested",        "psend_request",
                                           "precv_request", "psend_complete", "precv_complete"};
  static_assert(std::size(kNames) == kPartitionEventKinds);
  const auto place = static_cast<std::size_t>(kind);
  return place < std::size(kNames) ? kNames[place] : "?";
}

}  // namespace uctrace
