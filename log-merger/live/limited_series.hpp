// Sums by key, of which a limited number is told one by one and all others together: what monitors
// keep of each series is theirs to pay. A sum once told stays told, and none goes down.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "event-log/reader/counter_file.hpp"

namespace uctrace::live {

// Sums of words of 64 bits, which do not come back to 0.
struct ExactTotal {
  unsigned __int128 messages = 0, bytes = 0;
  ExactTotal& operator+=(const log::CounterTotal& came) {
    messages += came.messages;
    bytes += came.bytes;
    return *this;
  }
  ExactTotal& operator+=(const ExactTotal& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
  bool operator==(const ExactTotal&) const = default;
};

template <typename Key>
class LimitedSeries {
 public:
  using Sums = std::map<Key, ExactTotal>;
  // The key of the sum that a key goes into when it is not told by itself.
  using RestOf = Key (*)(const Key&);

  LimitedSeries(std::size_t most, RestOf rest_of) : most_(most), rest_of_(rest_of) {}

  void add(const Key& key, const log::CounterTotal& came) {
    if (const auto told = told_.find(key); told != told_.end()) {
      told->second += came;
    } else if (std::binary_search(left_out_.begin(), left_out_.end(), key)) {
      rest_[rest_of_(key)] += came;
    } else {
      fresh_[key] += came;
    }
  }

  // After each reading: of the keys that are new since the last one, those with the most bytes,
  // then messages, are told while there is room; the others are not told by themselves any more.
  void settle() {
    std::vector<std::pair<Key, ExactTotal>> fresh(fresh_.begin(), fresh_.end());
    fresh_.clear();
    std::stable_sort(fresh.begin(), fresh.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.bytes, a.second.messages) >
             std::pair(b.second.bytes, b.second.messages);
    });
    const std::size_t known = left_out_.size();
    for (const auto& [key, sum] : fresh) {
      // A name may look like that of the rest.
      const Key rest = rest_of_(key);
      if (told_.size() < most_ && key != rest) {
        told_.emplace(key, sum);
      } else {
        rest_[rest] += sum;
        left_out_.push_back(key);
      }
    }
    const auto middle = left_out_.begin() + static_cast<std::ptrdiff_t>(known);
    std::sort(middle, left_out_.end());
    std::inplace_merge(left_out_.begin(), middle, left_out_.end());
  }

  const Sums& told() const { return told_; }
  const Sums& rest() const { return rest_; }
  std::size_t left_out() const { return left_out_.size(); }  // keys that are in rest()

 private:
  std::size_t most_;
  RestOf rest_of_;
  Sums told_, rest_;
  Sums fresh_;                 // since the last settle()
  std::vector<Key> left_out_;  // sorted
};

}  // namespace uctrace::live
