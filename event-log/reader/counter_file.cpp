#include "event-log/reader/counter_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include "event-log/reader/fixed_text.hpp"
#include "event-log/reader/plain_text.hpp"

namespace uctrace::log {
namespace {

using Cause = FileError::Cause;
using Words = std::vector<std::uint64_t>;

[[noreturn]] void refuse_counters(
    const std::string& name, Cause cause, std::string why,
    std::string to_do = "record the run again, or leave this file out") {
  throw FileError(cause, {"cannot read the counters " + name, std::move(why), std::move(to_do)});
}

// Reads bytes from the start of the file, as far as it has them.
std::size_t read_start(int fd, void* to, std::size_t bytes, const std::string& name) {
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t n = pread(fd, static_cast<char*>(to) + got, bytes - got, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      refuse_counters(name, Cause::system, std::strerror(errno),
                      "check the path and its permissions");
    }
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

CounterPage read_page(int fd, const std::string& name) {
  CounterPage page{};
  const std::size_t got = read_start(fd, &page, sizeof page, name);
  if (got < sizeof page || page.magic == 0) {
    refuse_counters(name, Cause::unfinished, "its process had not begun to write it",
                    "leave this file out");
  }
  if (page.magic == __builtin_bswap64(kCounterMagic)) {
    refuse_counters(name, Cause::foreign, "it comes from a machine of the other byte order",
                    "read it on a machine like the one that wrote it");
  }
  if (page.magic != kCounterMagic) {
    refuse_counters(name, Cause::foreign, "it is not a counter file of uctrace",
                    "name a data folder");
  }
  if (page.version != kCounterVersion) {
    refuse_counters(name, Cause::foreign,
                    "it has version " + std::to_string(page.version) +
                        ", this uctrace reads version " + std::to_string(kCounterVersion),
                    "read it with the uctrace that wrote it");
  }
  if (page.page_bytes != kCounterPageBytes || page.storage > Storage::drained || page.closed > 1 ||
      page.world_rank < -1 || page.world_size < 0 || page.world_size > kMostRanks ||
      page.world_rank >= kMostRanks) {
    refuse_counters(name, Cause::unfinished, "its first page is damaged");
  }
  return page;
}

// A file that its process still writes through a mapping is read word by word, so no number is seen
// half stored. Other files do not change, or are copies.
class Mapping {
 public:
  Mapping(int fd, std::size_t bytes)
      : bytes_(bytes), at_(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0)) {}
  ~Mapping() {
    if (at_ != MAP_FAILED) munmap(at_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool ok() const { return at_ != MAP_FAILED; }
  void copy(Words& to) const {
    const auto* from = static_cast<const std::uint64_t*>(at_);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
  }

 private:
  std::size_t bytes_;
  void* at_;
};

std::size_t size_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && status.st_size > 0 ? static_cast<std::size_t>(status.st_size)
                                                       : 0;
}

Words read_words(int fd, const CounterPage& page, const std::string& name) {
  const std::size_t bytes = page.written_bytes;
  if (bytes < kCounterPageBytes || bytes % sizeof(std::uint64_t) != 0) {
    refuse_counters(name, Cause::unfinished, "its first page is damaged");
  }
  if (size_of(fd) < bytes) refuse_counters(name, Cause::unfinished, "it is cut short");
  Words words(bytes / sizeof(std::uint64_t));
  if (page.storage == Storage::mapped && page.closed == 0) {
    const Mapping mapping(fd, bytes);
    if (mapping.ok()) {
      mapping.copy(words);
      return words;
    }
  }
  if (read_start(fd, words.data(), bytes, name) < bytes) {
    refuse_counters(name, Cause::unfinished, "it is cut short");
  }
  return words;
}

template <typename Record>
Record record_at(std::span<const std::uint64_t> words) {
  Record record;
  std::memcpy(&record, words.data(), sizeof record);
  return record;
}

// Programs and drivers choose these names, and they are shown on terminals.
std::string text_of(std::span<const std::uint64_t> words) {
  const auto* text = reinterpret_cast<const char*>(words.data());
  return plain_text({text, strnlen(text, words.size_bytes())});
}

bool is_rank(std::int64_t number) { return number >= 0 && number < kMostRanks; }

bool is_of_ranks(const RankRun& run) {
  if (run.count == 0) return true;
  const std::int64_t last = std::int64_t{run.first} + std::int64_t{run.stride} * (run.count - 1);
  return run.count <= kMostRanks && is_rank(run.first) && is_rank(last);
}

void take_communicator(CountedCommunicator& made, const CounterName& name,
                       std::span<const std::uint64_t> words) {
  made.size = static_cast<std::uint32_t>(name.value & kCommunicatorSizeMask);
  made.inter = (name.value & kCommunicatorInter) != 0;
  made.runs.clear();
  std::uint64_t members = 0;
  bool are_ranks = made.size <= kMostRanks;
  for (; words.size_bytes() >= sizeof(RankRun); words = words.subspan(sizeof(RankRun) / 8)) {
    made.runs.push_back(record_at<RankRun>(words));
    members += made.runs.back().count;
    are_ranks &= is_of_ranks(made.runs.back());
  }
  // A list that contradicts the size, or contains invalid ranks, does not count.
  made.members_known = (name.value & kMembersUnknown) == 0 && are_ranks && members == made.size;
  if (!made.members_known) made.runs.clear();
}

// An entry of another size is unknown; its number stays without a name.
void take_gpu(CounterSnapshot& to, const CounterName& name, std::span<const std::uint64_t> words) {
  if (words.size_bytes() != sizeof(CounterGpu)) return;
  to.gpus[name.number] = {static_cast<Vendor>(name.value), record_at<CounterGpu>(words)};
}

void take_name(CounterSnapshot& to, const CounterName& name, std::span<const std::uint64_t> words) {
  switch (name.kind) {
    case CounterNameKind::worker:
      to.workers.push_back(name.value);
      break;
    case CounterNameKind::peer:
      to.peers[name.number] = name.value;
      break;
    case CounterNameKind::interface:
      to.interfaces[name.number] = text_of(words);
      break;
    case CounterNameKind::communicator:
      take_communicator(to.communicators[name.number], name, words);
      break;
    case CounterNameKind::communicator_label:
      to.communicators[name.number].label = text_of(words);
      to.spawned |= to.communicators[name.number].label == "MPI_COMM_PARENT";
      break;
    case CounterNameKind::mpi_function:
      to.functions[name.number] = text_of(words);
      break;
    case CounterNameKind::gpu:
      take_gpu(to, name, words);
      break;
    case CounterNameKind::library:
      to.library = text_of(words);
      break;
  }
}

// False: it is damaged.
bool take_names(CounterSnapshot& to, std::span<const std::uint64_t> words) {
  constexpr std::size_t kLead = sizeof(CounterName) / sizeof(std::uint64_t);
  while (words.size() >= kLead && words[0] != 0) {
    const auto name = record_at<CounterName>(words);
    if (name.words > kMaxNameWords || name.words > words.size() - kLead) return false;
    take_name(to, name, words.subspan(kLead, name.words));
    words = words.subspan(kLead + name.words);
  }
  return true;
}

bool take_rows(CounterSnapshot& to, std::span<const std::uint64_t> words) {
  constexpr std::size_t kWords = sizeof(CounterRow) / sizeof(std::uint64_t);
  for (; words.size() >= kWords; words = words.subspan(kWords)) {
    const auto row = record_at<CounterRow>(words);
    if (row.key == 0) continue;
    const std::uint64_t subject = subject_of(row.key);
    const bool is_no_peer =
        names_peer(kind_of(row.key)) && subject < kNamedPeer && subject >= kMostRanks;
    if (bin_of(row.key) >= kSizeBins || is_no_peer) return false;
    ++to.row_count;
    to.rows[row.key] += {row.messages, row.bytes};
  }
  return true;
}

bool take_sections(CounterSnapshot& to, std::span<const std::uint64_t> words) {
  constexpr std::size_t kLead = sizeof(CounterSection) / sizeof(std::uint64_t);
  while (!words.empty()) {
    if (words.size() < kLead) return false;
    const auto section = record_at<CounterSection>(words);
    if (section.magic != kCounterSectionMagic || section.bytes % sizeof section != 0 ||
        section.bytes < sizeof section || section.bytes > words.size_bytes()) {
      return false;
    }
    const std::size_t all = section.bytes / sizeof(std::uint64_t);
    const auto content = words.subspan(kLead, all - kLead);
    if (section.kind == CounterSectionKind::names && !take_names(to, content)) return false;
    if (section.kind == CounterSectionKind::rows && !take_rows(to, content)) return false;
    words = words.subspan(all);
  }
  return true;
}

}  // namespace

std::vector<std::int32_t> CountedCommunicator::members() const {
  std::vector<std::int32_t> ranks;
  if (!members_known) return ranks;
  for (const RankRun& run : runs) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      ranks.push_back(
          static_cast<std::int32_t>(std::int64_t{run.first} + std::int64_t{run.stride} * i));
    }
  }
  return ranks;
}

std::vector<std::int32_t> CountedCommunicator::others(std::int32_t rank) const {
  std::vector<std::int32_t> ranks = members();
  if (!inter) std::erase(ranks, rank);
  return ranks;
}

std::string CounterSnapshot::host() const { return plain_text(text_in(page.host)); }

std::string CounterSnapshot::job() const { return plain_text(text_in(page.job)); }

ProcessName CounterSnapshot::process() const {
  return {.host = std::string(text_in(page.host)),
          .boot_id = std::string(text_in(page.boot_id)),
          .pid_namespace = page.pid_namespace,
          .time_namespace = page.time_namespace,
          .pid = page.pid,
          .start_time = page.start_time};
}

std::int32_t CounterSnapshot::rank() const {
  if (page.world_rank >= 0) return page.world_rank;
  return page.launch_size > 0 ? page.launch_rank : -1;
}

std::uint64_t CounterSnapshot::unplaced_messages() const {
  std::uint64_t sum = 0;
  for (const UnplacedCount& count : page.unplaced) sum += count.messages;
  return sum;
}

CounterFile::CounterFile(const std::filesystem::path& path) : name_(path.string()) {
  const InputFile regular(name_);  // refuses devices and pipes without waiting for them
  if (!regular.is_open()) throw regular.failure(name_);
  fd_ = open(regular.path_to_open(name_).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd_ < 0) {
    refuse_counters(name_, Cause::system, std::strerror(errno),
                    "check the path and its permissions");
  }
  try {
    read_page(fd_, name_);
  } catch (...) {
    close(fd_);
    throw;
  }
}

CounterFile::CounterFile(CounterFile&& other) noexcept
    : name_(std::move(other.name_)), fd_(std::exchange(other.fd_, -1)) {}

CounterFile::~CounterFile() {
  if (fd_ >= 0) close(fd_);
}

CounterSnapshot CounterFile::read() const {
  CounterSnapshot snapshot;
  snapshot.page = read_page(fd_, name_);
  const Words words = read_words(fd_, snapshot.page, name_);
  const std::span all(words);
  snapshot.page = record_at<CounterPage>(all);
  snapshot.file_bytes = all.size_bytes();
  if (!take_sections(snapshot, all.subspan(kCounterPageBytes / sizeof(std::uint64_t)))) {
    refuse_counters(name_, Cause::unfinished, "its sections are damaged");
  }
  return snapshot;
}

std::filesystem::path counters_beside(const std::filesystem::path& log) {
  return std::filesystem::path(log).replace_extension(kCounterSuffix);
}

std::vector<std::filesystem::path> counter_paths(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == kCounterSuffix) paths.push_back(it->path());
  }
  if (error) {
    throw Error({"cannot read the folder " + folder.string(), error.message(),
                 "check the path and its permissions"});
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

CounterFolder open_counters(const std::filesystem::path& folder) {
  CounterFolder found;
  for (const auto& path : counter_paths(folder)) {
    try {
      found.files.emplace_back(path);
    } catch (const FileError& problem) {
      found.unread.push_back(problem.message());
    }
  }
  return found;
}

}  // namespace uctrace::log
