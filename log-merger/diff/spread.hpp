// The durations of calls of one kind: enough for quartiles and the median, in little memory. They are
// kept in classes of 3 % width, so a quantile is within 1.6 % of the exact one; below 64 ns they are
// exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uctrace::diff {

class Spread {
 public:
  void add(std::uint64_t ns);

  std::uint64_t count() const { return count_; }
  std::uint64_t sum_ns() const { return sum_ns_; }
  // The smallest duration that at least this share (0 to 1) of all does not exceed; 0 if there is
  // none.
  std::uint64_t quantile_ns(double share) const;

 private:
  struct Class {
    std::uint16_t number;
    std::uint64_t count;
  };
  std::vector<Class> classes_;  // by number, only those that are not empty
  std::uint64_t count_ = 0, sum_ns_ = 0;
};

// A sum of times, and what it would be if every call had taken the lower quartile, the median and the
// upper quartile of its kind. Kinds with fewer calls than kRepeated have no spread: their times are
// only in the value.
struct Band {
  double value_ns = 0;
  double low_ns = 0, middle_ns = 0, high_ns = 0;
  double repeated_ns = 0;    // part of value_ns covered by the quartiles
  std::uint64_t events = 0;  // of these
  void add(const Spread& of_a_kind);
  void add(const Band& other);
};
inline constexpr std::uint64_t kRepeated = 8;

}  // namespace uctrace::diff
