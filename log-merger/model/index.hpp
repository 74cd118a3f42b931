// How rows of a job's vectors are addressed.
#pragma once

#include <cstdint>

namespace uctrace::merge {

using Index = std::int32_t;
inline constexpr Index kNone = -1;

}  // namespace uctrace::merge
