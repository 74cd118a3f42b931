// The messages of each process: those that it asked for, and those that it received. Only otf2*.cpp
// include this.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "log-merger/exports/lists_in_file.hpp"
#include "log-merger/exports/otf2_archive.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace::exports {

inline bool is_one_sided(MessageKind kind) {
  return kind == MessageKind::put || kind == MessageKind::get || kind == MessageKind::atomic;
}

// The archive's data about a message at one of its ends.
struct MessageEnd {
  std::int64_t call = -1;  // that asked; into mpi_calls
  std::int64_t t_start_ns = -1, t_posted_recv_ns = -1, t_end_ns = -1;
  std::uint64_t bytes = 0, wire_bytes = 0;
  std::uint32_t message = 0;       // row
  std::int32_t peer_process = -1;  // the other end
  std::int32_t communicator = -1;
  std::uint32_t tag = OTF2_UNDEFINED_UINT32;
  TextId mpi = kNoText, mpi_recv = kNoText, protocol = kNoText;
  OTF2_StringRef transports = OTF2_UNDEFINED_STRING;
  MessageKind kind = MessageKind::tag;
  Match match = Match::unmatched;
};

// Reads the messages twice, for any number of processes, and stores their ends by process: twice
// sizeof(MessageEnd) bytes per message, in an unnamed file in `folder`.
class MessagesOfProcesses {
 public:
  // Throws std::system_error, as the others do.
  MessagesOfProcesses(const RowSource& source, Otf2Strings& strings,
                      const std::filesystem::path& folder);

  // By message, ascending, without messages that have an unknown end.
  std::vector<MessageEnd> asked_by(std::size_t process) const { return ends_.read(2 * process); }
  // Without one-sided ones, which nobody receives.
  std::vector<MessageEnd> received_by(std::size_t process) const {
    return ends_.read(2 * process + 1);
  }

 private:
  ListsInFile<MessageEnd> ends_;
};

}  // namespace uctrace::exports
