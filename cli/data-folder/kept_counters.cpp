#include "cli/data-folder/kept_counters.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "event-log/reader/input_file.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/new_file.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

// Throws std::system_error.
void check_call(bool ok) {
  if (!ok) throw std::system_error(errno, std::generic_category());
}

// Blocks of zeros become holes: a log of nothing but counters then takes two blocks of the disk.
void copy_without_zeros(const fs::path& from, const fs::path& to) {
  log::InputFile in(from.string());  // never waits for a pipe
  check_call(in.is_open());
  NewFile out(to);
  std::array<char, 4096> block{};
  off_t at = 0;
  const auto read_block = [&] {
    return in.read(block.data(), block.size(), static_cast<std::size_t>(at)) == block.size();
  };
  for (; read_block(); at += static_cast<off_t>(block.size())) {
    if (std::any_of(block.begin(), block.end(), [](char c) { return c != 0; })) {
      check_call(lseek(out.fd(), at, SEEK_SET) == at);
      out.write({block.data(), block.size()});
    }
  }
  check_call(ftruncate(out.fd(), at) == 0);
  out.publish();
}

// A log that could not be finished is worth more than its last counters, and a link leads
// elsewhere.
bool is_free(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::not_found;
}

}  // namespace

void keep_counters(const fs::path& fallback, const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(fallback, error), end; !error && it != end; it.increment(error)) {
    const fs::path kept = folder / it->path().filename();
    if (it->path().extension() != kLogSuffix || !is_free(kept)) continue;
    try {
      copy_without_zeros(it->path(), kept);
    } catch (const std::system_error&) {
      continue;
    }
  }
}

}  // namespace uctrace::cli
