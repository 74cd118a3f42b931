#include "event-log/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <tuple>

#include "log-merger/error.hpp"

namespace uctrace::log {

// --- damage --------------------------------------------------------------------------------------

namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

}  // namespace

std::vector<std::string> Damage::sentences() const {
  std::vector<std::string> result;
  const auto add = [&](std::uint64_t count, const char* one, const char* many, const char* rest) {
    if (count != 0) result.push_back(counted(count, one, many) + ' ' + rest);
  };
  add(truncated_bytes, "byte is", "bytes are", "missing at the end of the file.");
  add(bad_chunks, "place holds", "places hold", "no valid chunk where one should begin.");
  add(skipped_bytes, "byte was", "bytes were", "passed over in search of the next valid chunk.");
  add(resyncs, "valid chunk was", "valid chunks were", "found again behind a damaged place.");
  add(bad_records, "record is", "records are", "not valid and left out.");
  add(unreadable_tails, "chunk was", "chunks were", "given up behind a record of impossible size.");
  add(missing_chunks, "chunk is", "chunks are", "missing in the sequence of its recording thread.");
  add(unpublished_records, "record was", "records were",
      "begun but not finished when the process stopped or the file was read.");
  add(missing_events, "event was", "events were", "counted by the process but not found.");
  add(surplus_events, "event was", "events were", "found but not counted by the process.");
  return result;
}

// --- opening a file ------------------------------------------------------------------------------

namespace {

constexpr const char* kMakeAgain = "record the run again, or leave this file out";

[[noreturn]] void refuse(const std::string& name, std::string why, std::string to_do) {
  throw Error({"cannot read the log " + name, std::move(why), std::move(to_do)});
}

[[noreturn]] void refuse_errno(const std::string& name) {
  refuse(name, std::strerror(errno), "check the path and its permissions");
}

std::unique_ptr<std::uint64_t[]> allocate(std::size_t bytes, const std::string& name) {
  try {
    return std::make_unique_for_overwrite<std::uint64_t[]>(bytes / sizeof(std::uint64_t) + 1);
  } catch (const std::bad_alloc&) {
    refuse(name, "its " + std::to_string(bytes) + " bytes do not fit into memory",
           "merge on a machine with more memory");
  }
}

class FileDescriptor {
 public:
  // O_NONBLOCK: a FIFO in the folder must not make its reader wait.
  explicit FileDescriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// Bytes read from the front of the file: fewer than `bytes` if it was cut short meanwhile.
std::size_t read_front(int fd, std::byte* to, std::size_t bytes, const std::string& name) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(fd, to + done, bytes - done, static_cast<off_t>(done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      refuse_errno(name);
    }
  }
  return done;
}

}  // namespace

LogFile LogFile::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  const FileDescriptor file(path);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) refuse_errno(name);
  if (!S_ISREG(status.st_mode)) refuse(name, "it is not a regular file", "name a log file");
  const auto size = static_cast<std::size_t>(status.st_size);
  auto words = allocate(size, name);
  const std::size_t got =
      read_front(file.get(), reinterpret_cast<std::byte*>(words.get()), size, name);
  return LogFile(std::move(words), got, name);
}

LogFile LogFile::from_bytes(Bytes bytes, std::string name) {
  auto words = allocate(bytes.size(), name);
  if (!bytes.empty()) std::memcpy(words.get(), bytes.data(), bytes.size());
  return LogFile(std::move(words), bytes.size(), std::move(name));
}

LogFile::LogFile(std::unique_ptr<std::uint64_t[]> words, std::size_t size_bytes, std::string name)
    : name_(std::move(name)), words_(std::move(words)), size_bytes_(size_bytes) {
  read_page();
  find_chunks();
  order_chunks();
  check_records();
}

// --- process page --------------------------------------------------------------------------------

void LogFile::read_page() {
  std::uint64_t magic = 0;
  std::memcpy(&magic, words_.get(), std::min(size_bytes_, sizeof magic));
  if (magic == 0) {
    refuse(name_, "its process had not begun to write it", "leave this file out");
  }
  if (magic == __builtin_bswap64(kMagic)) {
    refuse(name_, "it comes from a machine of the other byte order",
           "merge it on a machine like the one that recorded it");
  }
  if (magic != kMagic) refuse(name_, "it is not a uctrace log", "name a folder of logs");
  if (size_bytes_ < offsetof(ProcessPage, tool_version)) {
    refuse(name_, "it is cut short within its first page", kMakeAgain);
  }
  std::memcpy(&page_, words_.get(), std::min(size_bytes_, sizeof page_));
  if (page_.version != kFormatVersion) {
    refuse(name_,
           "it has format " + std::to_string(page_.version) + ", this uctrace reads format " +
               std::to_string(kFormatVersion),
           page_.version > kFormatVersion ? "merge it with the newer uctrace that recorded it"
                                          : "merge it with the older uctrace that recorded it");
  }
  if (size_bytes_ < kProcessPageBytes) {
    refuse(name_, "it is cut short within its first page", kMakeAgain);
  }
  const bool layers_valid = std::all_of(std::begin(page_.layers), std::end(page_.layers),
                                        [](LayerState s) { return s <= LayerState::unwanted; });
  if (page_.page_bytes != kProcessPageBytes || page_.clock < Clock::tsc ||
      page_.clock > Clock::monotonic_raw || page_.exit > ExitKind::aborted || !layers_valid ||
      page_.lanes_used > kMaxLanes || page_.anchor_count > kAnchors || page_.world_rank < -1 ||
      page_.world_size < 0 || page_.closed > 1 || page_.storage > Storage::drained) {
    refuse(name_, "its first page is damaged", kMakeAgain);
  }
  lanes_.resize(page_.lanes_used);
  if (!lanes_.empty()) {
    std::memcpy(lanes_.data(), words_.get() + kLanesOffset / sizeof(std::uint64_t),
                lanes_.size() * sizeof(LaneInfo));
  }
  anchors_.assign(page_.anchors, page_.anchors + page_.anchor_count);
}

// --- chunks --------------------------------------------------------------------------------------

namespace {

bool is_valid(const ChunkHeader& header) {
  return header.magic == kChunkMagic && std::has_single_bit(header.bytes) &&
         header.bytes >= kMinChunkBytes && header.bytes <= kMaxChunkBytes &&
         (header.sequence == 0 || (header.lane < kMaxLanes && header.stream >= Stream::events &&
                                   header.stream <= Stream::definitions));
}

// Space that was allocated, but not made into a chunk when the file was read.
bool is_blank(const ChunkHeader& header) {
  const ChunkHeader blank{};
  return std::memcmp(&header, &blank, sizeof header) == 0;
}

}  // namespace

void LogFile::find_chunks() {
  std::size_t offset = kProcessPageBytes;
  bool lost = false;
  while (size_bytes_ - offset >= sizeof(ChunkHeader)) {
    ChunkHeader header;
    std::memcpy(&header, words_.get() + offset / sizeof(std::uint64_t), sizeof header);
    const std::size_t left = size_bytes_ - offset;
    std::size_t step = std::min(left, kMinChunkBytes);
    if (is_valid(header)) {
      if (lost) ++damage_.resyncs;
      lost = false;
      step = std::min<std::size_t>(left, header.bytes);
      damage_.truncated_bytes += header.bytes - step;
      anchors_.push_back(header.anchor);
      if (header.sequence != 0) {
        chunks_.push_back({header.stream, header.lane, header.sequence,
                           Words(words_.get() + (offset + sizeof header) / sizeof(std::uint64_t),
                                 (step - sizeof header) / sizeof(std::uint64_t))});
      }
    } else if (lost || !is_blank(header)) {
      if (!lost) ++damage_.bad_chunks;
      lost = true;
      damage_.skipped_bytes += step;
    }
    offset += step;
  }
  // A process that is still writing may have grown its file since it wrote the size.
  if (page_.allocated_bytes > size_bytes_) {
    damage_.truncated_bytes = page_.allocated_bytes - size_bytes_;
  }
}

void LogFile::order_chunks() {
  const auto place = [](const Chunk& c) { return std::tuple(c.stream, c.lane, c.sequence); };
  std::stable_sort(chunks_.begin(), chunks_.end(),
                   [&](const Chunk& a, const Chunk& b) { return place(a) < place(b); });
  const auto same = [&](const Chunk& a, const Chunk& b) { return place(a) == place(b); };
  const auto last = std::unique(chunks_.begin(), chunks_.end(), same);
  damage_.bad_chunks += static_cast<std::uint64_t>(chunks_.end() - last);
  chunks_.erase(last, chunks_.end());

  const Chunk* previous = nullptr;
  for (const Chunk& chunk : chunks_) {
    const bool follows =
        previous != nullptr && previous->stream == chunk.stream && previous->lane == chunk.lane;
    damage_.missing_chunks += chunk.sequence - (follows ? previous->sequence : 0) - 1;
    previous = &chunk;
  }
}

Words LogFile::RecordWalk::next() {
  constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
  if (rest_.empty()) {
    end_ = End::clean;
    return {};
  }
  const std::uint64_t head = rest_[0];
  if (head == 0) {
    // Each word is the one before it, and the first is zero.
    const bool untouched =
        std::memcmp(rest_.data(), rest_.data() + 1, rest_.size_bytes() - kWordBytes) == 0;
    end_ = untouched ? End::clean : End::unpublished;
    return {};
  }
  const std::size_t words = head >> 8 & 0xff;
  if (words == 0 || words > rest_.size()) {
    end_ = End::impossible_size;
    return {};
  }
  const Words record = rest_.first(words);
  rest_ = rest_.subspan(words);
  return record;
}

// --- whole file ----------------------------------------------------------------------------------

namespace {

std::uint64_t sum_of(const std::uint64_t (&counts)[kDropKinds]) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

}  // namespace

void LogFile::check_records() {
  std::vector<std::uint64_t> events_read(kMaxLanes);
  auto accept_all = [](std::uint16_t, const auto&) {};
  for (const Chunk& chunk : chunks_) {
    RecordWalk walk(chunk);
    for (Words record = walk.next(); !record.empty(); record = walk.next()) {
      if (!visit(chunk, record, accept_all)) {
        ++damage_.bad_records;
      } else if (chunk.stream == Stream::events) {
        ++events_read[chunk.lane];
      }
    }
    if (walk.end() == RecordWalk::End::unpublished) ++damage_.unpublished_records;
    if (walk.end() == RecordWalk::End::impossible_size) ++damage_.unreadable_tails;
  }
  check_lane_counters(events_read);
}

void LogFile::check_lane_counters(const std::vector<std::uint64_t>& events_read) {
  for (std::size_t lane = 0; lane < kMaxLanes; ++lane) {
    const std::uint64_t read = events_read[lane];
    event_count_ += read;
    const LaneCounters none{};
    const LaneCounters& counters = lane < lanes_.size() ? lanes_[lane].counters : none;
    const std::uint64_t gone = sum_of(counters.overwritten);
    const std::uint64_t recorded =
        counters.recorded_events > gone ? counters.recorded_events - gone : 0;
    if (recorded > read) damage_.missing_events += recorded - read;
    // The page is read before the chunks: a living writer is ahead of it.
    if (read > recorded && page_.closed == 1) damage_.surplus_events += read - recorded;
  }
}

std::uint64_t LogFile::dropped_records() const {
  std::uint64_t sum = sum_of(page_.dropped_without_lane);
  for (const LaneInfo& lane : lanes_) sum += sum_of(lane.counters.dropped);
  return sum;
}

std::uint64_t LogFile::overwritten_events() const {
  std::uint64_t sum = 0;
  for (const LaneInfo& lane : lanes_) sum += sum_of(lane.counters.overwritten);
  return sum;
}

std::uint64_t LogFile::window_start_tick() const {
  std::uint64_t tick = 0;
  for (const LaneInfo& lane : lanes_) tick = std::max(tick, lane.counters.overwritten_until_tick);
  return tick;
}

// --- identity ------------------------------------------------------------------------------------

namespace {

template <std::size_t kCapacity>
std::string_view text_in(const char (&array)[kCapacity]) {
  return {array, strnlen(array, kCapacity)};
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Start time of a process of this pid namespace; nothing if there is none, or only its zombie.
std::optional<std::uint64_t> start_time_of(std::uint32_t pid) {
  const std::string line = first_line(("/proc/" + std::to_string(pid) + "/stat").c_str());
  // The second field is the command in parentheses and may hold any character.
  const std::size_t end_of_command = line.rfind(')');
  if (end_of_command == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_command + 1));
  std::string state, skipped;
  fields >> state;
  for (int field = 4; field <= 21; ++field) fields >> skipped;
  std::uint64_t start_time = 0;
  if (state == "Z" || state == "X" || !(fields >> start_time)) return std::nullopt;
  return start_time;
}

}  // namespace

std::string_view LogFile::host() const { return text_in(page_.host); }
std::string_view LogFile::boot_id() const { return text_in(page_.boot_id); }
std::string_view LogFile::job() const { return text_in(page_.job); }
std::string_view LogFile::tool_version() const { return text_in(page_.tool_version); }

bool LogFile::same_bytes(const LogFile& other) const {
  return size_bytes_ == other.size_bytes_ &&
         std::memcmp(words_.get(), other.words_.get(), size_bytes_) == 0;
}

std::string LogFile::monotonic_clock() const {
  return std::string(boot_id()) + ':' + std::to_string(page_.time_namespace);
}

std::string LogFile::process_key() const {
  return std::string(host()) + ':' + std::string(boot_id()) + ':' +
         std::to_string(page_.pid_namespace) + ':' + std::to_string(page_.pid) + ':' +
         std::to_string(page_.start_time) +
         (page_.image > 0 ? ':' + std::to_string(page_.image) : std::string());
}

bool LogFile::writer_in_sight() const {
  // Cut like the writer's, which is why a name that is too long is no error.
  char this_host[sizeof page_.host] = {};
  ::gethostname(this_host, sizeof this_host - 1);
  if (host() != this_host) return false;
  if (first_line("/proc/sys/kernel/random/boot_id") != boot_id()) return false;
  struct stat own_namespace {};
  return ::stat("/proc/self/ns/pid", &own_namespace) == 0 &&
         own_namespace.st_ino == page_.pid_namespace;
}

bool LogFile::is_writer_alive() const {
  return writer_in_sight() && start_time_of(page_.pid) == page_.start_time;
}

}  // namespace uctrace::log
