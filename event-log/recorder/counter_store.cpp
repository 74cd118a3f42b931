#include "event-log/recorder/counter_store.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "event-log/recorder/counter_parts.hpp"
#include "event-log/recorder/counter_view.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/no_helper.hpp"
#include "event-log/recorder/output_log.hpp"
#include "event-log/recorder/packer.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

namespace {

constexpr std::size_t kExtentBytes = 64 * 1024;  // the least by which the file grows
constexpr std::size_t kNameBytes = 28 * 1024;    // of the first section of names
constexpr std::size_t kMostExtents = 4096;
constexpr std::size_t kMostTableBytes = std::size_t{256} << 20;
constexpr std::size_t kFewTables = 6;
constexpr std::uint64_t kDrainNs = 1'000'000'000;

// A part of the file in memory, for a drained one.
struct Extent {
  void* memory;
  std::uint64_t at, bytes;
};

// The helper's state. A fork child starts with a new one.
struct Store {
  int fd = -1;
  int error = 0;
  Storage storage = Storage::unknown;
  std::uint64_t bytes = 0;  // of the file
  Extent extents[kMostExtents];
  std::atomic<std::size_t> extent_count;
  NameRoom rooms[256];
  std::size_t room_count = 0;
  std::uint64_t last_drain = 0;
  pid_t process = 0;  // the owner of the page
};
constinit Store store{};

CounterPage* page() { return counter_parts.page.load(std::memory_order_relaxed); }

// The name of the log with another ending. False: it is too long.
bool name_file(char* out, std::size_t size, const char* log) {
  constexpr std::size_t kEnding = sizeof ".ulog" - 1;
  const std::size_t length = strlen(log);
  if (length < kEnding || length - kEnding + sizeof kCounterSuffix > size) return false;
  memcpy(out, log, length - kEnding);
  memcpy(out + length - kEnding, kCounterSuffix, sizeof kCounterSuffix);
  return true;
}

// Counts as a storage call only while it really waits for the file system: a call that began in
// each round of the helper would hide another one that is stuck.
void* more_of_file(std::size_t bytes) {
  if (store.storage != Storage::mapped) return map_memory(bytes);
  const StorageCall call;
  return map_file(store.fd, store.bytes, bytes);
}

// Zeros at the end of the file. nullptr: errno says why.
void* add_extent(std::size_t bytes) {
  const std::size_t count = store.extent_count.load(std::memory_order_relaxed);
  if (count == kMostExtents) {
    errno = ENOSPC;
    return nullptr;
  }
  void* memory = more_of_file(bytes);
  if (memory == nullptr) return nullptr;
  store.extents[count] = {memory, store.bytes, bytes};
  store.extent_count.store(count + 1, std::memory_order_release);
  store.bytes += bytes;
  return memory;
}

void* lead_section(void* memory, CounterSectionKind kind, std::size_t bytes) {
  auto* section = static_cast<CounterSection*>(memory);
  section->kind = kind;
  section->bytes = bytes;
  section->magic = kCounterSectionMagic;
  return section + 1;
}

// All sections up to here are complete.
void publish(std::uint64_t bytes) {
  __atomic_store_n(&page()->written_bytes, bytes, __ATOMIC_RELEASE);
}

void add_names(void* memory, std::size_t bytes) {
  if (store.room_count == sizeof store.rooms / sizeof store.rooms[0]) return;
  NameRoom& room = store.rooms[store.room_count++];
  room.at = static_cast<std::uint64_t*>(lead_section(memory, CounterSectionKind::names, bytes));
  room.words = (bytes - sizeof(CounterSection)) / sizeof(std::uint64_t);
  room.used.store(0, std::memory_order_relaxed);
  counter_parts.next_names.store(&room, std::memory_order_release);
  NameRoom* none = nullptr;
  counter_parts.names.compare_exchange_strong(none, &room, std::memory_order_acq_rel);
}

void make_ready(CounterRow* table) {
  for (auto& place : counter_parts.ready) {
    CounterRow* none = nullptr;
    if (place.compare_exchange_strong(none, table, std::memory_order_acq_rel)) return;
  }
}

// The whole of `bytes` in small tables.
void add_small_tables(unsigned char* memory, std::size_t bytes, CounterRow** tables,
                      std::size_t& count) {
  for (; bytes >= kSmallTableBytes; bytes -= kSmallTableBytes, memory += kSmallTableBytes) {
    tables[count++] =
        static_cast<CounterRow*>(lead_section(memory, CounterSectionKind::rows, kSmallTableBytes));
  }
}

std::size_t ready_tables() {
  std::size_t count = 0;
  for (const auto& place : counter_parts.ready) {
    count += place.load(std::memory_order_relaxed) != nullptr;
  }
  return count;
}

std::size_t stop_growing() {
  store.error = errno;
  counter_parts.grows.store(false, std::memory_order_release);
  counter_parts.tables.cause.store(DropCause::no_memory, std::memory_order_relaxed);
  return 0;
}

std::size_t add_ready_tables() {
  auto* memory = static_cast<unsigned char*>(add_extent(kExtentBytes));
  if (memory == nullptr) return stop_growing();
  CounterRow* tables[kExtentBytes / kSmallTableBytes];
  std::size_t count = 0;
  add_small_tables(memory, kExtentBytes, tables, count);
  publish(store.bytes);
  for (std::size_t i = 0; i < count; ++i) make_ready(tables[i]);
  return kExtentBytes;
}

std::size_t add_name_section() {
  void* memory = add_extent(kExtentBytes);
  if (memory == nullptr) return stop_growing();
  add_names(memory, kExtentBytes);
  publish(store.bytes);
  return kExtentBytes;
}

// The larger table that a lane asked for.
std::size_t serve(CountedRows& rows, std::size_t budget) {
  const std::size_t wanted = __atomic_load_n(&rows.wanted, __ATOMIC_ACQUIRE);
  if (wanted == 0 || __atomic_load_n(&rows.next, __ATOMIC_RELAXED) != nullptr) return 0;
  std::size_t bytes = kExtentBytes;
  while (bytes < kMostTableBytes && bytes / sizeof(CounterRow) < wanted) bytes *= kTableGrowth;
  if (bytes > kMostTableBytes) bytes = kMostTableBytes;
  if (bytes > budget) return 0;
  void* memory = add_extent(bytes);
  if (memory == nullptr) return stop_growing();
  auto* table = static_cast<CounterRow*>(lead_section(memory, CounterSectionKind::rows, bytes));
  publish(store.bytes);
  rows.next_capacity =
      static_cast<std::uint32_t>((bytes - sizeof(CounterSection)) / sizeof(CounterRow));
  __atomic_store_n(&rows.next, table, __ATOMIC_RELEASE);
  __atomic_store_n(&rows.wanted, 0, __ATOMIC_RELEASE);
  return bytes;
}

std::size_t serve_lanes(std::size_t budget) {
  if (!counter_parts.rows_wanted.exchange(false, std::memory_order_acq_rel)) return 0;
  std::size_t added = 0;
  const std::size_t used = lanes_used();
  for (std::size_t i = 0; i < used; ++i) {
    added += serve(lane_of_number(i).counted, budget - added);
  }
  return added;
}

std::uint64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void fill(CounterPage& out, const ProcessPage& log) {
  out.version = kCounterVersion;
  out.page_bytes = kCounterPageBytes;
  memcpy(out.tool_version, log.tool_version, sizeof out.tool_version);
  memcpy(out.host, log.host, sizeof out.host);
  memcpy(out.boot_id, log.boot_id, sizeof out.boot_id);
  memcpy(out.job, log.job, sizeof out.job);
  out.pid_namespace = log.pid_namespace;
  out.time_namespace = log.time_namespace;
  out.start_time = log.start_time;
  out.pid = log.pid;
  out.image = log.image;
  out.world_rank = -1;
  out.launch_rank = log.launch_rank;
  out.launch_size = log.launch_size;
  out.storage = log.storage;
  out.started_realtime_ns = out.heartbeat_realtime_ns = realtime_ns();
}

bool open_file(const OutputLog& log) {
  char path[sizeof log.path + sizeof kCounterSuffix];
  if (!name_file(path, sizeof path, log.path)) {
    errno = ENAMETOOLONG;
    return false;
  }
  const mode_t mode = log.storage == Storage::mapped ? 0444 : 0644;
  store.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  return store.fd >= 0;
}

// In this order the page never names a section that does not exist.
bool write_all() {
  const std::size_t count = store.extent_count.load(std::memory_order_acquire);
  for (std::size_t i = count; i-- > 0;) {
    const Extent& extent = store.extents[i];
    if (write_at(store.fd, extent.memory, extent.bytes, extent.at) != extent.bytes) return false;
  }
  return true;
}

void forget_store() {
  store.fd = -1;
  store.error = 0;
  store.bytes = 0;
  store.extent_count.store(0, std::memory_order_relaxed);
  store.room_count = 0;
  store.last_drain = 0;
  memset(static_cast<void*>(&counter_parts), 0, sizeof counter_parts);
}

}  // namespace

void make_counter_file(const OutputLog& log) {
  forget_store();
  store.process = getpid();
  read_counting();
  if (!counts() || wants_no_helper()) return;
  store.storage = log.storage;
  auto* memory = open_file(log) ? static_cast<unsigned char*>(add_extent(kExtentBytes)) : nullptr;
  if (memory == nullptr) {
    store.error = errno;
    return;
  }
  auto* made = reinterpret_cast<CounterPage*>(memory);
  fill(*made, *log.page);
  counter_parts.page.store(made, std::memory_order_release);
  add_names(memory + kCounterPageBytes, kNameBytes);
  CounterRow* tables[kExtentBytes / kSmallTableBytes];
  std::size_t count = 0;
  constexpr std::size_t kLead = kCounterPageBytes + kNameBytes;
  static_assert((kExtentBytes - kLead) % kSmallTableBytes == 0);
  add_small_tables(memory + kLead, kExtentBytes - kLead, tables, count);
  publish(store.bytes);
  for (std::size_t i = 0; i < count; ++i) make_ready(tables[i]);
  __atomic_store_n(&made->magic, kCounterMagic, __ATOMIC_RELEASE);
  if (store.storage == Storage::drained && !write_all()) store.error = errno;
  counter_parts.grows.store(true, std::memory_order_release);
}

int counter_file_error() { return store.error; }

std::size_t extend_counters(std::size_t budget) {
  if (!counter_parts.grows.load(std::memory_order_relaxed)) return 0;
  std::size_t added = 0;
  if (ready_tables() < kFewTables && budget >= kExtentBytes) {
    added += add_ready_tables();
    end_shortage(counter_parts.tables);
  }
  if (counter_parts.names_wanted.exchange(false, std::memory_order_acq_rel) &&
      counter_parts.names.load() == counter_parts.next_names.load() &&
      budget - added >= kExtentBytes) {
    added += add_name_section();
  }
  return added + serve_lanes(budget - added);
}

void give_counters_sign_of_life(std::uint64_t realtime) {
  if (CounterPage* mine = page()) {
    __atomic_store_n(&mine->heartbeat_realtime_ns, realtime, __ATOMIC_RELAXED);
  }
}

void drain_counters() {
  const std::uint64_t now = monotonic_raw_ns();
  if (page() == nullptr || store.storage != Storage::drained || now - store.last_drain < kDrainNs) {
    return;
  }
  store.last_drain = now;
  const StorageCall call;
  if (!write_all() && store.error == 0) store.error = errno;
}

void close_counter_file() {
  CounterPage* mine = page();
  if (mine == nullptr) return;
  __atomic_store_n(&mine->closed, std::uint8_t{1}, __ATOMIC_RELEASE);
  if (store.storage == Storage::drained) {
    write_all();
  } else {
    struct stat status {};
    if (fstat(store.fd, &status) == 0) fchmod(store.fd, (status.st_mode & 07777) | S_IWUSR);
  }
}

// --- readers inside the process --------------------------------------------------------------

namespace {

// A fork child inherits its parent's page until it makes its own; the memory of that page is not
// mapped in the child.
const CounterPage* own_page() {
  const CounterPage* mine = counter_parts.page.load(std::memory_order_acquire);
  return mine != nullptr && store.process == getpid() ? mine : nullptr;
}

// The complete ones.
template <typename Visit>
void for_each_section(CounterSectionKind kind, Visit visit) {
  const CounterPage* mine = own_page();
  if (mine == nullptr) return;
  const std::uint64_t written = __atomic_load_n(&mine->written_bytes, __ATOMIC_ACQUIRE);
  const std::size_t count = store.extent_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const Extent& extent = store.extents[i];
    if (extent.at + extent.bytes > written) return;
    const auto* memory = static_cast<const unsigned char*>(extent.memory);
    std::uint64_t at = i == 0 ? kCounterPageBytes : 0;
    while (at < extent.bytes) {
      const auto& section = *reinterpret_cast<const CounterSection*>(memory + at);
      if (section.magic != kCounterSectionMagic || section.bytes == 0) break;
      if (section.kind == kind && !visit(section)) return;
      at += section.bytes;
    }
  }
}

}  // namespace

std::size_t copy_counters(CounterRow* out, std::size_t room) {
  std::size_t found = 0;
  for_each_section(CounterSectionKind::rows, [&](const CounterSection& section) {
    const auto* rows = reinterpret_cast<const CounterRow*>(&section + 1);
    const std::size_t count = (section.bytes - sizeof section) / sizeof *rows;
    for (std::size_t i = 0; i < count; ++i) {
      const CounterKey key = __atomic_load_n(&rows[i].key, __ATOMIC_ACQUIRE);
      if (key == 0) continue;
      if (found < room) {
        out[found] = {key, __atomic_load_n(&rows[i].messages, __ATOMIC_RELAXED),
                      __atomic_load_n(&rows[i].bytes, __ATOMIC_RELAXED), 0};
      }
      ++found;
    }
    return true;
  });
  return found;
}

void visit_counter_names(void* context, bool (*visit)(void*, const CounterName&)) {
  for_each_section(CounterSectionKind::names, [&](const CounterSection& section) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(&section + 1);
    const auto* const end = words + (section.bytes - sizeof section) / sizeof *words;
    while (words < end && __atomic_load_n(words, __ATOMIC_ACQUIRE) != 0) {
      const auto& name = *reinterpret_cast<const CounterName*>(words);
      if (!visit(context, name)) return false;
      words += sizeof name / sizeof *words + name.words;
    }
    return true;
  });
}

CounterWorld counter_world() {
  const CounterPage* mine = own_page();
  if (mine == nullptr) return {-1, 0};
  const std::int32_t rank = __atomic_load_n(&mine->world_rank, __ATOMIC_ACQUIRE);
  return {rank, rank < 0 ? 0 : __atomic_load_n(&mine->world_size, __ATOMIC_RELAXED)};
}

void set_counter_world(std::int32_t rank, std::int32_t size) {
  if (CounterPage* mine = page()) {
    __atomic_store_n(&mine->world_size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&mine->world_rank, rank, __ATOMIC_RELEASE);
  }
}

}  // namespace uctrace::log
