// Takes a snapshot of the files of a log, which its process may still be writing.
#include "event-log/reader/reader_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <new>
#include <typeinfo>
#include <utility>
#include <vector>

#include "event-log/reader/block_decoder.hpp"
#include "event-log/reader/input_file.hpp"
#include "event-log/reader/log_head.hpp"
#include "event-log/reader/reader.hpp"

namespace uctrace::log {
namespace {

// Throws on transient failures.
class LogInput {
 public:
  explicit LogInput(std::string name) : name_(std::move(name)), file_(name_) {}

  bool is_missing() const { return file_.is_missing(); }
  void require_open() const {
    if (!file_.is_open()) refuse();
  }
  std::size_t size() const { return value_of(file_.size()); }
  std::vector<Extent> data(std::size_t from) const { return file_.data(from); }
  std::size_t read(void* to, std::size_t bytes, std::size_t offset) const {
    return value_of(file_.read(to, bytes, offset));
  }

 private:
  [[noreturn]] void refuse() const { throw file_.failure("the log " + name_); }
  std::size_t value_of(std::optional<std::size_t> value) const {
    if (!value) refuse();
    return *value;
  }

  std::string name_;
  mutable InputFile file_;
};

FileWords in_memory(Bytes bytes, const std::string& name) {
  FileWords words(bytes.size(), bytes.size(), name);
  words.append(0, bytes);
  return words;
}

// How much of a page is in use: most processes use few of its lanes.
std::size_t used_bytes(std::span<const std::byte> page) {
  const auto is_used = [](std::byte byte) { return byte != std::byte{}; };
  const auto last = std::find_if(page.rbegin(), page.rend(), is_used);
  const auto used = static_cast<std::size_t>(page.rend() - last);
  const std::size_t lanes = used - std::min(used, kLanesOffset);
  const std::size_t whole = (lanes + sizeof(LaneInfo) - 1) / sizeof(LaneInfo) * sizeof(LaneInfo);
  return std::min(kLanesOffset + whole, page.size());
}

// Unused lanes at its end become a hole: in a folder with thousands of logs they would take most of
// the memory.
FileWords page_words(const LogInput& file, const std::string& name) {
  const std::size_t bytes = std::min(file.size(), kProcessPageBytes);
  std::vector<std::byte> read(bytes);
  read.resize(file.read(read.data(), bytes, 0));
  const std::size_t used = used_bytes(read);
  FileWords page(used, read.size(), name);
  page.append(0, std::span(read).first(used));
  return page;
}

// All zero if the page is incomplete.
ProcessPage page_of(const FileWords& words) {
  ProcessPage page{};
  if (words.copy(&page, sizeof page, 0) < sizeof page) page = {};
  return page;
}

// The same for a file of which nothing else is needed.
ProcessPage page_of(const LogInput& file) {
  ProcessPage page{};
  if (file.read(&page, sizeof page, 0) < sizeof page) page = {};
  return page;
}

bool is_whole_page(const FileWords& words) { return words.bytes() >= kProcessPageBytes; }

// The page, and room for `bytes` after it, of a file of `size`.
FileWords page_with_room(const FileWords& page, std::size_t bytes, std::size_t size,
                         const std::string& name) {
  const auto first = std::as_bytes(page.from(0));
  FileWords words(first.size() + bytes, size, name);
  words.append(0, first);
  return words;
}

// The tables of lanes that the page names, as of the time when it was read.
class LaneTables {
 public:
  void read(const LogInput& file, const FileWords& page) {
    tables_.clear();
    if (!is_whole_page(page)) return;
    for (const std::uint64_t at : page_of(page).lane_tables) {
      if (at == 0) break;
      if (at % kLaneTableBytes != 0) continue;  // tables are aligned
      std::vector<std::byte> table(kLaneTableBytes);
      table.resize(file.read(table.data(), table.size(), at));
      tables_.insert_or_assign(at, std::move(table));
    }
  }
  // Copies them over what was read from the file later.
  void put_into(FileWords& file) const {
    for (const auto& [at, table] : tables_) {
      const std::span<std::uint64_t> there = file.words_at(at);
      if (!table.empty() && table.size() <= there.size_bytes()) {
        std::memcpy(there.data(), table.data(), table.size());
      }
    }
  }
  // After the page, where it says that they are; the space between is a hole.
  FileWords behind(const FileWords& page, std::size_t size, const std::string& name) const {
    FileWords all = page_with_room(page, tables_.size() * kLaneTableBytes, size, name);
    for (const auto& [at, table] : tables_) {
      all.append(at, table);
    }
    return all;
  }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> tables_;  // by their places
};

// Records that a log of bounded size lost while it was read.
void update_overwritten(const LogInput& file, const FileWords& words) {
  static_assert(offsetof(LaneCounters, overwritten_until_tick) ==
                offsetof(LaneCounters, overwritten) + sizeof(LaneCounters::overwritten));
  constexpr std::size_t kBytes = sizeof(LaneCounters::overwritten) + sizeof(std::uint64_t);
  const ProcessPage page = page_of(words);
  for (std::size_t lane = 0; lane < kMaxLanes && lane < page.lanes_used; ++lane) {
    const std::uint64_t place = place_of_lane(page, lane);
    const std::uint64_t at =
        place + offsetof(LaneInfo, counters) + offsetof(LaneCounters, overwritten);
    if (place == 0 || place % alignof(LaneInfo) != 0 || place >= words.bytes()) continue;
    const std::span<std::uint64_t> there = words.words_at(at);
    if (kBytes <= there.size_bytes()) file.read(there.data(), kBytes, at);
  }
}

[[noreturn]] void throw_no_memory(std::size_t bytes, const std::string& name) {
  throw FileError(FileError::Cause::system,
                  {"cannot read the log " + name,
                   "its " + std::to_string(bytes) + " bytes do not fit into memory",
                   "merge on a machine with more memory"});
}

}  // namespace

std::unique_ptr<std::uint64_t[]> allocate(std::size_t bytes, const std::string& name) {
  try {
    return std::make_unique_for_overwrite<std::uint64_t[]>(bytes / sizeof(std::uint64_t) + 1);
  } catch (const std::bad_alloc& error) {
    if (typeid(error) == typeid(std::bad_alloc)) throw_no_memory(bytes, name);
    throw;  // the other error tells more
  }
}

std::vector<FileWords::Part>::const_iterator FileWords::part_at(std::size_t offset) const {
  return std::upper_bound(parts_.begin(), parts_.end(), offset,
                          [](std::size_t at, const Part& part) { return at < part.end; });
}

std::span<std::uint64_t> FileWords::words_at(std::size_t offset) const {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const auto part = part_at(offset);
  if (part == parts_.end() || part->begin > offset) return {};
  return {words_.get() + part->at + (offset - part->begin) / kWord, (part->end - offset) / kWord};
}

std::size_t FileWords::copy(void* to, std::size_t bytes, std::size_t offset) const {
  const auto part = part_at(offset);
  if (part == parts_.end() || part->begin > offset) return 0;
  const std::size_t there = std::min(bytes, part->end - offset);
  const auto* from = reinterpret_cast<const std::byte*>(words_.get() + part->at);
  std::memcpy(to, from + (offset - part->begin), there);
  return there;
}

std::size_t FileWords::next_data(std::size_t offset) const {
  const auto part = part_at(offset);
  return part == parts_.end() ? std::max(offset, bytes_) : std::max(offset, part->begin);
}

bool FileWords::same(const FileWords& other) const {
  if (bytes_ != other.bytes_ || parts_.size() != other.parts_.size()) return false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part &a = parts_[i], &b = other.parts_[i];
    if (a.begin != b.begin || a.end != b.end ||
        std::memcmp(words_.get() + a.at, other.words_.get() + b.at, a.end - a.begin) != 0) {
      return false;
    }
  }
  return true;
}

WriterState state_of(const ProcessPage& before, WriterState then, const ProcessPage& page) {
  if (page.closed == 1) return WriterState::closed;
  return same_writer(before, page) ? then : WriterState::unseen;
}

LogHead read_log_head(const std::filesystem::path& path) {
  const std::string name = path.string();
  const LogInput file(name);
  file.require_open();
  ProcessPage before{};
  file.read(&before, sizeof before, 0);
  const WriterState then = look_for_writer(before);
  LogHead head;
  file.read(&head.page, sizeof head.page, 0);
  check_page(head.page, file.size(), name);
  head.state = state_of(before, then, head.page);
  return head;
}

LogFile LogFile::from_bytes(Bytes bytes, std::string name, Bytes live) {
  FileWords file = in_memory(bytes, name), chunks = in_memory(live, name);
  const ProcessPage page = page_of(file);
  const WriterState state = state_of(page, look_for_writer(page), page);
  return LogFile(std::move(file), std::move(chunks), std::move(name), state);
}

// First the writer: if it was dead, nothing came later. Then the page, and the tables of lanes that
// it names.
LogFile LogFile::open_counters(const std::filesystem::path& path) {
  const std::string name = path.string();
  const LogInput file(name);
  file.require_open();
  const ProcessPage before = page_of(file);
  const WriterState then = look_for_writer(before);
  FileWords page = page_words(file, name);
  const WriterState state = state_of(before, then, page_of(page));
  LaneTables tables;
  tables.read(file, page);
  if (is_whole_page(page)) page = tables.behind(page, file.size(), name);
  return LogFile(std::move(page), {}, name, state);
}

namespace {

// Chunks in the log itself, after its page.
FileWords read_own_chunks(const LogInput& file, const ProcessPage& page, const std::string& name) {
  const std::size_t size = file.size();
  return read_chunks(
      file, name, kProcessPageBytes,
      std::min<std::uint64_t>(page.chunk_bytes, size - std::min(size, kProcessPageBytes)));
}

// The page as read before, with the present content of the file after it.
FileWords read_blocks(const LogInput& file, const FileWords& page, const LaneTables& tables,
                      const std::string& name) {
  const ProcessPage last = page_of(page);
  std::size_t size = file.size();
  // The rest is reserved for blocks that were not made.
  const bool has_rest = last.chunk_bytes != 0 && last.closed == 1;
  if (has_rest) size = std::min<std::uint64_t>(size, last.allocated_bytes);
  const std::vector<Extent> extents = cut_at(file.data(kProcessPageBytes), size);
  FileWords words = page_with_room(page, bytes_in(extents), size, name);
  words.read(file, extents);
  tables.put_into(words);
  if (last.max_event_bytes != 0) update_overwritten(file, words);
  return words;
}

}  // namespace

// The order matters. The writer's life comes before the page, which may be its last one. The page
// and the tables of lanes come before the records that they count, and chunks before the blocks
// that they are packed into. The file of chunks disappears when the page says that everything is
// packed: then the page is read again.
LogFile LogFile::open(const std::filesystem::path& path, const AfterStep& after) {
  const auto done = [&](SnapshotStep step) {
    if (after) after(step);
  };
  const std::string name = path.string();
  const LogInput file(name);
  file.require_open();
  const ProcessPage before = page_of(file);
  const WriterState then = look_for_writer(before);
  done(SnapshotStep::writer);

  FileWords page, live;
  LaneTables tables;
  const auto take_page = [&] {
    page = page_words(file, name);
    tables.read(file, page);
  };
  take_page();
  done(SnapshotStep::page);
  for (int i = 0; i < 2 && page_of(page).live_bytes != 0; ++i) {
    const LogInput chunks(name + kLiveSuffix);
    if (!chunks.is_missing()) {
      chunks.require_open();
      live = read_chunks(chunks, name);
      break;
    }
    take_page();
  }
  const ProcessPage last = page_of(page);
  if (is_whole_page(page) && last.chunk_bytes != 0) live = read_own_chunks(file, last, name);
  done(SnapshotStep::chunks);

  if (is_whole_page(page)) page = read_blocks(file, page, tables, name);
  done(SnapshotStep::blocks);
  return LogFile(std::move(page), std::move(live), name, state_of(before, then, last));
}

namespace {

// Larger than any block: its header and packed records, which may grow a little.
constexpr std::size_t kMostBlockBytes = 2 * kMaxChunkBytes;

// A killed process may have written only a part of its last block.
bool is_whole(const LogInput& file, std::uint64_t at, std::size_t bytes) {
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
  return file.read(words.data(), bytes, at) == bytes && block_at(words) != nullptr;
}

std::uint64_t events_in(const BlockHeader& block) {
  std::uint64_t events = 0;
  for (std::size_t kind = 0; kind < kDropKinds; ++kind) {
    const bool counts = static_cast<DropKind>(kind) != DropKind::definition;
    events += counts ? block.records[kind] : 0;
  }
  return events;
}

// Calls take(at, header) for the blocks of a log, as long as the content after its page makes
// sense.
template <typename Take>
void each_block(const LogInput& file, const ProcessPage& page, Take take) {
  std::uint64_t at = kProcessPageBytes + page.chunk_bytes;
  for (BlockHeader block{}; file.read(&block, sizeof block, at) >= sizeof(GapHeader);) {
    const bool is_block = block.magic == kBlockMagic;
    if (!is_block && block.magic != kGapMagic && block.magic != kLanesMagic) break;
    const bool fits = block.bytes >= kBlockAlignment && block.bytes <= file.size() - at;
    const bool can_be =
        !is_block || (block.bytes % kBlockAlignment == 0 && block.bytes <= kMostBlockBytes);
    if (!fits || !can_be) break;
    if (is_block) take(at, block);
    at += block.bytes;
    block = {};
  }
}

}  // namespace

std::uint64_t count_packed_events(const std::filesystem::path& path) {
  const LogInput file(path.string());
  file.require_open();
  std::uint64_t events = 0, in_last = 0, last = 0, bytes = 0;
  each_block(file, page_of(file), [&](std::uint64_t at, const BlockHeader& block) {
    events += in_last;
    in_last = events_in(block);
    last = at;
    bytes = block.bytes;
  });
  return in_last != 0 && is_whole(file, last, bytes) ? events + in_last : events;
}

// Records that are not in blocks yet are found by reading everything.
LogFile LogFile::open_definitions(const std::filesystem::path& path) {
  const std::string name = path.string();
  const LogInput file(name);
  file.require_open();
  const FileWords page = page_words(file, name);
  const ProcessPage head = page_of(page);
  if (!is_whole_page(page) || head.live_bytes != 0 || head.chunk_bytes != 0) return open(path);
  std::vector<Extent> extents;
  each_block(file, head, [&](std::uint64_t at, const BlockHeader& block) {
    if (block.stream == Stream::definitions) extents.push_back({at, at + block.bytes});
  });
  FileWords words = page_with_room(page, bytes_in(extents), file.size(), name);
  words.read(file, extents);
  return LogFile(std::move(words), {}, name, state_of(head, look_for_writer(head), head));
}

}  // namespace uctrace::log
