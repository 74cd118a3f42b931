#include "log-merger/model/connection_rows.hpp"

#include <cstddef>
#include <iterator>

namespace uctrace {

const char* name_of(MadeBy made_by) {
  static constexpr const char* kNames[] = {"program", "ucp_endpoint", "wireup"};
  const auto place = static_cast<std::size_t>(made_by);
  return place < std::size(kNames) ? kNames[place] : "?";
}

}  // namespace uctrace
