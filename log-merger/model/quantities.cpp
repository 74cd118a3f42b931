#include "log-merger/model/quantities.hpp"

#include <fmt/format.h>

#include <vector>

namespace uctrace {
namespace {

struct Scale {
  double factor;
  const char* suffix;
};

// `value` in the largest scale that keeps it at 1 or more.
std::string scaled(double value, const std::vector<Scale>& scales) {
  const Scale* best = &scales.front();
  for (const Scale& scale : scales) {
    if (value >= scale.factor) best = &scale;
  }
  return fmt::format("{:.1f} {}", value / best->factor, best->suffix);
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  static const std::vector<Scale> scales = {
      {1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}, {1099511627776.0, "TiB"}};
  return scaled(static_cast<double>(bytes), scales);
}

std::string format_duration(std::uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  static const std::vector<Scale> scales = {{1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  return scaled(static_cast<double>(ns), scales);
}

}  // namespace uctrace
