// The head of a log: enough to tell whose it is, without its lanes and records. For offline code.
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

// Throws FileError if `page` does not begin a log that this version reads. A file of `file_bytes`
// bytes may hold only a part of the page. `name` is the log's.
void check_page(const ProcessPage& page, std::size_t file_bytes, const std::string& name);

// The state of the writer after its page was read. `then` was found earlier, by the page of that
// time.
WriterState state_of(const ProcessPage& before, WriterState then, const ProcessPage& page);

}  // namespace uctrace::log
