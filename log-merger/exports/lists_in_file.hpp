// Many lists of records, filled in turns and read one at a time, in an unnamed file: only records
// being collected or read are in memory. Private to the room.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <type_traits>
#include <vector>

namespace uctrace::exports {

template <typename Record>
class ListsInFile {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // A list of `lengths[i]` records for each i. The file is in `folder`, where nobody else makes
  // one. All members throw std::system_error if the file cannot be made, written or read.
  ListsInFile(const std::filesystem::path& folder, const std::vector<std::size_t>& lengths)
      : ends_(lengths.size()), collected_(lengths.size()) {
    std::size_t begin = 0;
    for (std::size_t list = 0; list < lengths.size(); ++list) {
      ends_[list] = begin;
      begins_.push_back(begin);
      begin += lengths[list];
    }
    begins_.push_back(begin);
    at_once_ = std::clamp<std::size_t>(
        kCollectedBytes / sizeof(Record) / std::max<std::size_t>(lengths.size(), 1), 8, 4096);
    const std::filesystem::path path = folder / "lists";
    fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd_ < 0) fail("making a file");
    unlink(path.c_str());
  }
  ~ListsInFile() {
    if (fd_ >= 0) close(fd_);
  }
  ListsInFile(const ListsInFile&) = delete;
  ListsInFile& operator=(const ListsInFile&) = delete;

  // Adds the next record to a list, within its length.
  void add(std::size_t list, const Record& record) {
    collected_[list].push_back(record);
    if (collected_[list].size() == at_once_) write(list);
  }
  // Before the first one is read.
  void end() {
    for (std::size_t list = 0; list < collected_.size(); ++list) write(list);
    collected_ = {};
  }

  std::vector<Record> read(std::size_t list) const {
    std::vector<Record> records(begins_[list + 1] - begins_[list]);
    auto* const bytes = reinterpret_cast<char*>(records.data());
    const std::size_t size = records.size() * sizeof(Record);
    for (std::size_t done = 0; done < size;) {
      const ssize_t got = pread(fd_, bytes + done, size - done, offset(begins_[list], done));
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) errno = EIO;
      if (got <= 0) fail("reading");
      done += static_cast<std::size_t>(got);
    }
    return records;
  }

 private:
  static constexpr std::size_t kCollectedBytes = std::size_t{64} << 20;  // of all lists

  [[noreturn]] static void fail(const char* doing) {
    throw std::system_error(errno, std::generic_category(), doing);
  }
  static off_t offset(std::size_t record, std::size_t bytes) {
    return static_cast<off_t>(record * sizeof(Record) + bytes);
  }

  void write(std::size_t list) {
    std::vector<Record>& records = collected_[list];
    const auto* const bytes = reinterpret_cast<const char*>(records.data());
    const std::size_t size = records.size() * sizeof(Record);
    for (std::size_t done = 0; done < size;) {
      const ssize_t put = pwrite(fd_, bytes + done, size - done, offset(ends_[list], done));
      if (put < 0 && errno == EINTR) continue;
      if (put == 0) errno = ENOSPC;
      if (put <= 0) fail("writing");
      done += static_cast<std::size_t>(put);
    }
    ends_[list] += records.size();
    records.clear();
  }

  int fd_ = -1;
  std::size_t at_once_ = 0;
  std::vector<std::size_t> begins_, ends_;      // in the file, in records: by list
  std::vector<std::vector<Record>> collected_;  // by list, not yet in the file
};

}  // namespace uctrace::exports
