// The messages of each process, found by it: those that it asked for, and those that it received.
// Only otf2*.cpp include this.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace::exports {

inline bool is_one_sided(MessageKind kind) {
  return kind == MessageKind::put || kind == MessageKind::get || kind == MessageKind::atomic;
}

// Takes 8 bytes a message.
class MessagesOfProcesses {
 public:
  explicit MessagesOfProcesses(const RowSource& source);

  // Rows of messages, ascending. Of messages with an unknown end there are none.
  std::span<const std::uint32_t> asked_by(std::size_t process) const { return asked_.of(process); }
  // Without one-sided ones, which nobody receives.
  std::span<const std::uint32_t> received_by(std::size_t process) const {
    return received_.of(process);
  }

 private:
  struct Lists {
    std::vector<std::size_t> first;  // by process, and where the last one ends
    std::vector<std::uint32_t> messages;

    std::span<const std::uint32_t> of(std::size_t process) const {
      return std::span(messages).subspan(first[process], first[process + 1] - first[process]);
    }
  };

  Lists asked_, received_;
};

}  // namespace uctrace::exports
