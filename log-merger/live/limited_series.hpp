// Sums by key. A limited number of keys have their own series and all others share one, because
// each series costs memory in a monitoring system. A series once reported stays, and no sum
// decreases.
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
  // The key of the shared sum for a key without its own series.
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

  // After each reading: of the new keys, those with the most bytes, then messages, get their own
  // series while there is room; the others never will.
  void settle() {
    std::vector<std::pair<Key, ExactTotal>> fresh(fresh_.begin(), fresh_.end());
    fresh_.clear();
    std::stable_sort(fresh.begin(), fresh.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.bytes, a.second.messages) >
             std::pair(b.second.bytes, b.second.messages);
    });
    const std::size_t known = left_out_.size();
    for (const auto& [key, sum] : fresh) {
      // A name may equal that of the rest.
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
