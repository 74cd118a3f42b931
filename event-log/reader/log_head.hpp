// What leads a log: enough to tell whose it is, without its lanes and records. For offline code.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "event-log/format/file_layout.hpp"
#include "event-log/reader/writer_state.hpp"

namespace uctrace::log {

struct LogHead {
  ProcessPage page{};
  WriterState state = WriterState::unseen;  // as of LogFile::state()

  std::string_view job() const;
  std::string_view host() const;
};

// Reads 8 KiB, however large the log is. Throws FileError as LogFile::open does.
LogHead read_log_head(const std::filesystem::path& path);

// Throws FileError where `page`, of which a file of `file_bytes` bytes holds as much as it can,
// leads no log that this version reads. `name` is the log's.
void check_page(const ProcessPage& page, std::size_t file_bytes, const std::string& name);

// What is known of the writer once its page was read: it was looked for (`then`) by the page that
// was there before.
WriterState state_of(const ProcessPage& before, WriterState then, const ProcessPage& page);

}  // namespace uctrace::log
