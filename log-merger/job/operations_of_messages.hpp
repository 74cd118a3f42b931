// The UCT operations of each message, in the order of the job's vector. Private to log-merger/.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "log-merger/model/index.hpp"

namespace uctrace::merge {

class OperationsOfMessages {
 public:
  OperationsOfMessages() = default;
  // `message_of` names the message of each operation, kNone: of none.
  OperationsOfMessages(std::size_t messages, const std::vector<Index>& message_of)
      : first_(messages + 1) {
    for (const Index message : message_of) {
      if (message != kNone) ++first_[static_cast<std::size_t>(message) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    operations_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < message_of.size(); ++i) {
      if (message_of[i] == kNone) continue;
      operations_[next[static_cast<std::size_t>(message_of[i])]++] = static_cast<Index>(i);
    }
  }

  std::span<const Index> of(std::size_t message) const {
    return std::span(operations_).subspan(first_[message], first_[message + 1] - first_[message]);
  }

 private:
  std::vector<std::size_t> first_;  // of each message, and the end of the last
  std::vector<Index> operations_;
};

}  // namespace uctrace::merge
