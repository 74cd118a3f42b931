#include "log-merger/diff/spread.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace uctrace::diff {
namespace {

// Each power of two is divided into so many classes.
constexpr unsigned kClassBits = 5;
constexpr std::uint64_t kClasses = std::uint64_t{1} << kClassBits;

std::uint16_t class_of(std::uint64_t ns) {
  if (ns < 2 * kClasses) return static_cast<std::uint16_t>(ns);
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - kClassBits - 1;
  return static_cast<std::uint16_t>((shift << kClassBits) + (ns >> shift));
}

// The middle of a class.
std::uint64_t length_of(std::uint16_t number) {
  if (number < 2 * kClasses) return number;
  const unsigned shift = (number >> kClassBits) - 1U;
  const std::uint64_t first = (number % kClasses + kClasses) << shift;
  return first + (std::uint64_t{1} << shift) / 2;
}

}  // namespace

void Spread::add(std::uint64_t ns) {
  const std::uint16_t number = class_of(ns);
  const auto at = std::lower_bound(
      classes_.begin(), classes_.end(), number,
      [](const Class& one, std::uint16_t wanted) { return one.number < wanted; });
  if (at != classes_.end() && at->number == number) {
    ++at->count;
  } else {
    classes_.insert(at, {number, 1});
  }
  ++count_;
  sum_ns_ += ns;
}

std::uint64_t Spread::quantile_ns(double share) const {
  const auto wanted = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))));
  std::uint64_t counted = 0;
  for (const Class& one : classes_) {
    counted += one.count;
    if (counted >= wanted) return length_of(one.number);
  }
  return 0;
}

void Band::add(const Spread& of_a_kind) {
  const auto sum = static_cast<double>(of_a_kind.sum_ns());
  value_ns += sum;
  if (of_a_kind.count() < kRepeated) return;
  const auto as_all = [&](double share) {
    return static_cast<double>(of_a_kind.count()) *
           static_cast<double>(of_a_kind.quantile_ns(share));
  };
  low_ns += as_all(0.25);
  middle_ns += as_all(0.5);
  high_ns += as_all(0.75);
  repeated_ns += sum;
  events += of_a_kind.count();
}

void Band::add(const Band& other) {
  value_ns += other.value_ns;
  low_ns += other.low_ns;
  middle_ns += other.middle_ns;
  high_ns += other.high_ns;
  repeated_ns += other.repeated_ns;
  events += other.events;
}

}  // namespace uctrace::diff
