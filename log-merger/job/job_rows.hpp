// The rows of a job: room is made for as many as its logs hold, and several threads fill them.
// Private to log-merger/.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "log-merger/model/index.hpp"

namespace uctrace::merge {

// Leaves rows added by resize() uninitialised: the caller fills each of them, and is the first to
// touch the memory.
template <typename Row>
struct UnfilledRows : std::allocator<Row> {
  template <typename Other>
  struct rebind {
    using other = UnfilledRows<Other>;
  };
  template <typename Made>
  void construct(Made*) noexcept {
    static_assert(std::is_trivially_copyable_v<Made>);
  }
  template <typename Made, typename... From>
  void construct(Made* at, From&&... from) {
    ::new (static_cast<void*>(at)) Made(std::forward<From>(from)...);
  }
};

template <typename Row>
using JobRows = ByIndex<Row, Row, UnfilledRows<Row>>;

}  // namespace uctrace::merge
