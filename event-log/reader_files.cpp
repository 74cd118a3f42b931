// Takes a snapshot of the files of a log, which its process may still be writing.
#include "event-log/reader_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "event-log/reader.hpp"
#include "log-merger/error.hpp"

namespace uctrace::log {
namespace {

[[noreturn]] void refuse(const std::string& name, std::string why, std::string to_do) {
  throw Error({"cannot read the log " + name, std::move(why), std::move(to_do)});
}

class FileDescriptor {
 public:
  // O_NONBLOCK: a FIFO in the folder must not make its reader wait.
  explicit FileDescriptor(std::string name)
      : name_(std::move(name)), fd_(::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool is_open() const { return fd_ >= 0; }

  [[noreturn]] void refuse_errno() const {
    refuse(name_, std::strerror(errno), "check the path and its permissions");
  }

  std::size_t size() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) refuse_errno();
    if (!S_ISREG(status.st_mode)) refuse(name_, "it is not a regular file", "name a log file");
    return static_cast<std::size_t>(status.st_size);
  }

  // Bytes read from `offset` on: fewer than `bytes` if the file was cut short meanwhile.
  std::size_t read(void* to, std::size_t bytes, std::size_t offset) const {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t got = ::pread(fd_, static_cast<std::byte*>(to) + done, bytes - done,
                                  static_cast<off_t>(offset + done));
      if (got == 0) break;
      if (got > 0) {
        done += static_cast<std::size_t>(got);
      } else if (errno != EINTR) {
        refuse_errno();
      }
    }
    return done;
  }

 private:
  std::string name_;
  int fd_;
};

std::byte* bytes_of(const FileWords& file) {
  return reinterpret_cast<std::byte*>(file.words.get());
}

const ProcessPage& page_of(const FileWords& file) {
  return *reinterpret_cast<const ProcessPage*>(file.words.get());
}

bool has_page(const FileWords& file) { return file.bytes >= kProcessPageBytes; }

// Tables of lanes that the page speaks of, as they were when it was read.
class LaneTables {
 public:
  void read(const FileDescriptor& file, const FileWords& page) {
    tables_.clear();
    if (!has_page(page)) return;
    for (const std::uint64_t at : page_of(page).lane_tables) {
      if (at == 0) break;
      std::vector<std::byte> table(kLaneTableBytes);
      table.resize(file.read(table.data(), table.size(), at));
      tables_.push_back({at, std::move(table)});
    }
  }
  // Over what was read of the file since.
  void put_into(FileWords& file) const {
    for (const auto& [at, table] : tables_) {
      if (at <= file.bytes && table.size() <= file.bytes - at && !table.empty()) {
        std::memcpy(bytes_of(file) + at, table.data(), table.size());
      }
    }
  }
  // Behind the page, which then names these places.
  FileWords behind(const FileWords& page, const std::string& name) const {
    FileWords all{.words = allocate(kProcessPageBytes + tables_.size() * kLaneTableBytes, name),
                  .bytes = page.bytes};
    std::memcpy(bytes_of(all), bytes_of(page), page.bytes);
    if (tables_.empty()) return all;
    ProcessPage head = page_of(page);
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      head.lane_tables[i] = all.bytes;
      std::memset(bytes_of(all) + all.bytes, 0, kLaneTableBytes);
      std::memcpy(bytes_of(all) + all.bytes, tables_[i].second.data(), tables_[i].second.size());
      all.bytes += kLaneTableBytes;
    }
    std::memcpy(bytes_of(all), &head, sizeof head);
    return all;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> tables_;
};

// What a log of bounded size lost while it was read.
void update_overwritten(const FileDescriptor& file, FileWords& words) {
  if (!has_page(words)) return;
  static_assert(offsetof(LaneCounters, overwritten_until_tick) ==
                offsetof(LaneCounters, overwritten) + sizeof(LaneCounters::overwritten));
  constexpr std::size_t kBytes = sizeof(LaneCounters::overwritten) + sizeof(std::uint64_t);
  const ProcessPage& page = page_of(words);
  for (std::size_t lane = 0; lane < kMaxLanes && lane < page.lanes_used; ++lane) {
    const std::uint64_t place = place_of_lane(page, lane);
    const std::uint64_t at =
        place + offsetof(LaneInfo, counters) + offsetof(LaneCounters, overwritten);
    if (place != 0 && place < words.bytes && at + kBytes <= words.bytes) {
      file.read(bytes_of(words) + at, kBytes, at);
    }
  }
}

}  // namespace

std::unique_ptr<std::uint64_t[]> allocate(std::size_t bytes, const std::string& name) {
  try {
    return std::make_unique_for_overwrite<std::uint64_t[]>(bytes / sizeof(std::uint64_t) + 1);
  } catch (const std::bad_alloc&) {
    refuse(name, "its " + std::to_string(bytes) + " bytes do not fit into memory",
           "merge on a machine with more memory");
  }
}

LogFile LogFile::from_bytes(Bytes bytes, std::string name, Bytes live) {
  const auto copy = [&](Bytes from) {
    FileWords file{.words = allocate(from.size(), name), .bytes = from.size()};
    if (!from.empty()) std::memcpy(file.words.get(), from.data(), from.size());
    return file;
  };
  FileWords file = copy(bytes), chunks = copy(live);
  return LogFile(std::move(file), std::move(chunks), std::move(name));
}

// The page, and the tables of lanes, before the records that they count.
LogFile LogFile::open_counters(const std::filesystem::path& path) {
  const std::string name = path.string();
  const FileDescriptor file(name);
  if (!file.is_open()) file.refuse_errno();
  FileWords page{.words = allocate(kProcessPageBytes, name)};
  page.bytes = file.read(page.words.get(), std::min(file.size(), kProcessPageBytes), 0);
  LaneTables tables;
  tables.read(file, page);
  return LogFile(tables.behind(page, name), FileWords{}, name);
}

// In this order: the page before the records that it counts, and chunks before the blocks that they
// are packed into.
LogFile LogFile::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  const FileDescriptor file(name);
  if (!file.is_open()) file.refuse_errno();
  const std::size_t page_bytes = std::min(file.size(), kProcessPageBytes);
  FileWords page{.words = allocate(kProcessPageBytes, name)}, live;
  LaneTables tables;
  const auto live_bytes = [&] {
    page.bytes = file.read(page.words.get(), page_bytes, 0);
    tables.read(file, page);
    return has_page(page) ? page_of(page).live_bytes : 0;
  };
  if (live_bytes() != 0) {
    const FileDescriptor chunks(name + kLiveSuffix);
    if (chunks.is_open()) {
      live = read_chunks(chunks, name, 0, chunks.size());
    } else {
      live_bytes();  // most likely the process ended, and packed the rest of it
    }
  }
  std::size_t size = file.size();
  if (has_page(page) && page_of(page).chunk_bytes != 0) {
    const ProcessPage& head = page_of(page);
    const std::size_t behind = size - std::min(size, kProcessPageBytes);
    live = read_chunks(file, name, kProcessPageBytes,
                       std::min<std::uint64_t>(head.chunk_bytes, behind));
    // The rest was for blocks that were not made.
    if (head.closed == 1) size = std::min<std::uint64_t>(size, head.allocated_bytes);
  }
  FileWords words{.words = allocate(std::max(size, kProcessPageBytes), name)};
  std::memcpy(words.words.get(), page.words.get(), page.bytes);
  words.bytes = page.bytes;
  if (page.bytes == kProcessPageBytes && size > kProcessPageBytes) {
    words.bytes +=
        file.read(bytes_of(words) + kProcessPageBytes, size - kProcessPageBytes, kProcessPageBytes);
    tables.put_into(words);
    if (page_of(words).max_event_bytes != 0) update_overwritten(file, words);
  }
  return LogFile(std::move(words), std::move(live), name);
}

std::uint64_t count_packed_events(const std::filesystem::path& path) {
  const FileDescriptor file(path.string());
  if (!file.is_open()) file.refuse_errno();
  ProcessPage page{};
  if (file.read(&page, sizeof page, 0) != sizeof page) return 0;
  std::uint64_t events = 0, at = kProcessPageBytes + page.chunk_bytes, step = 0;
  for (BlockHeader block{}; file.read(&block, sizeof block, at) >= sizeof(GapHeader);
       at += step) {
    const bool is_block = block.magic == kBlockMagic;
    if (!is_block && block.magic != kGapMagic && block.magic != kLanesMagic) break;
    if (block.bytes < kBlockAlignment) break;
    for (std::size_t kind = 0; is_block && kind < kDropKinds; ++kind) {
      const bool counts = static_cast<DropKind>(kind) != DropKind::definition;
      events += counts ? block.records[kind] : 0;
    }
    step = block.bytes;
    block = {};
  }
  return events;
}

}  // namespace uctrace::log
