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
  // `message_of` names the message of each operation; kNone: none.
  OperationsOfMessages(std::size_t messages, const ByIndex<UctOp, MessageIndex>& message_of)
      : first_(messages + 1) {
    for (const MessageIndex message : message_of) {
      if (message != kNone) ++first_[message.place() + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    operations_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const UctIndex op : message_of.indexes()) {
      if (message_of[op] == kNone) continue;
      operations_[next[message_of[op].place()]++] = op;
    }
  }

  std::span<const UctIndex> of(MessageIndex message) const {
    const std::size_t first = first_[message.place()], end = first_[message.place() + 1];
    return std::span(operations_).subspan(first, end - first);
  }

 private:
  std::vector<std::size_t> first_;  // of each message, plus the end of the last
  std::vector<UctIndex> operations_;
};

}  // namespace uctrace::merge
