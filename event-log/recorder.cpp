#include "event-log/recorder.hpp"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event-log/layers.hpp"
#include "event-log/output_log.hpp"
#include "event-log/supply.hpp"

extern char** environ;

namespace uctrace::log {

namespace {

// What a fork child must not inherit; in a page that the kernel wipes there.
struct WipedPage {
  detail::Armed armed;     // generation 0 = not recording
  std::uint32_t starting;  // 1 while a thread runs start()
  std::uint32_t failed;    // 1 after start() failed: not tried again in this process
};

constinit WipedPage before_start{};
constinit std::atomic<WipedPage*> wiped{&before_start};
constinit std::uint32_t last_generation = 0;  // inherited on purpose: a child's lanes are new ones

constinit Lane lanes[kMaxLanes]{};
// Pushed to and taken whole, so no ABA. Apart from what every record reads.
alignas(128) constinit std::atomic<Slot*> returned_slots{nullptr};

// A lane keeps up to this many free slots, then gives half.
constexpr std::uint32_t kOwnSlots = 512;

constexpr std::uint64_t kNoRoom = std::uint64_t{1} << 63;  // a position beyond every chunk

std::size_t index_of(Stream stream) { return static_cast<std::size_t>(stream) - 1; }

bool armed_now() { return detail::generation() != 0; }

WipedPage* make_wiped_page() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return nullptr;
  }
  madvise(page, 4096, MADV_WIPEONFORK);
  return static_cast<WipedPage*>(page);
}

// For kernels without MADV_WIPEONFORK.
void wipe_in_child() { memset(wiped.load(std::memory_order_relaxed), 0, sizeof(WipedPage)); }

WipedPage* wiped_page() {
  WipedPage* page = wiped.load(std::memory_order_acquire);
  if (page != &before_start) {
    return page;
  }
  WipedPage* fresh = make_wiped_page();
  if (fresh == nullptr) {
    return nullptr;
  }
  if (!wiped.compare_exchange_strong(page, fresh)) {
    munmap(fresh, 4096);
    return page;
  }
  pthread_atfork(nullptr, nullptr, wipe_in_child);
  return fresh;
}

void start_lane(Lane& lane, std::size_t index) {
  lane.index = static_cast<std::uint16_t>(index);
  lane.info = lane_info(supply.page, index);
  for (Id& id : lane.next_id) {
    id = static_cast<Id>(index) << 48;
  }
}

bool claim(std::size_t index, std::uint32_t from) {
  LaneInfo* info = lane_info(supply.page, index);
  return __atomic_compare_exchange_n(&info->state, &from, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

Lane* claim_dead_lane() {
  const std::uint32_t used = __atomic_load_n(&supply.page->lanes_used, __ATOMIC_ACQUIRE);
  for (std::size_t i = 0; i < used && i < kMaxLanes; ++i) {
    if (claim(i, 2)) {
      return &lanes[i];
    }
  }
  return nullptr;
}

Lane* claim_new_lane() {
  ProcessPage* page = supply.page;
  for (std::size_t i = __atomic_load_n(&page->lanes_used, __ATOMIC_ACQUIRE); i < kMaxLanes; ++i) {
    if (claim(i, 0)) {
      start_lane(lanes[i], i);
      std::uint32_t seen = __atomic_load_n(&page->lanes_used, __ATOMIC_RELAXED);
      while (seen < i + 1 && !__atomic_compare_exchange_n(&page->lanes_used, &seen,
                                                          static_cast<std::uint32_t>(i + 1), false,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      }
      return &lanes[i];
    }
  }
  return nullptr;
}

// A lane of a dead thread, else a new one. A dead thread's chunk and ids go on where they stopped.
Lane* claim_lane() {
  Lane* lane = claim_dead_lane();
  lane = lane != nullptr ? lane : claim_new_lane();
  if (lane == nullptr) {
    take_back_dead_lanes();  // the helper does so now and then: many may have died since
    lane = claim_dead_lane();
  }
  return lane;
}

void define_file(TextKind kind, const char* path) {
  char text[1900];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  const ssize_t n = read(fd, text, sizeof text);
  close(fd);
  for (ssize_t i = 0; i < n; ++i) {
    text[i] = text[i] == '\0' ? '\n' : text[i];
  }
  if (n > 0) {
    define_text(kind, 0, text, static_cast<std::size_t>(n));
  }
}

void define_process() {
  char path[1900];
  define_file(TextKind::command_line, "/proc/self/cmdline");
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n > 0) {
    define_text(TextKind::executable, 0, path, static_cast<std::size_t>(n));
  }
  if (getcwd(path, sizeof path) != nullptr) {
    define_text(TextKind::working_directory, 0, path, strlen(path));
  }
  static constexpr const char* kPrefixes[] = {"UCX_", "OMPI_MCA_", "MPIR_"};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    for (const char* prefix : kPrefixes) {
      if (strncmp(*variable, prefix, strlen(prefix)) == 0) {
        define_text(TextKind::environment, 0, *variable, strlen(*variable));
      }
    }
  }
}

int find_gpu_driver(dl_phdr_info* object, std::size_t, void* found) {
  const char* name = strrchr(object->dlpi_name, '/');
  name = name != nullptr ? name + 1 : object->dlpi_name;
  for (const char* driver :
       {"libcuda.so", "libamdhip64.so", "libhsa-runtime64.so", "libze_loader.so"}) {
    if (strncmp(name, driver, strlen(driver)) == 0) {
      *static_cast<bool*>(found) = true;
    }
  }
  return 0;
}

__attribute__((destructor)) void finish() {
  if (!armed_now()) {
    return;
  }
  see_gpu_driver();
  ProcessPage* page = supply.page;
  if (__atomic_load_n(&page->exit, __ATOMIC_RELAXED) == ExitKind::running) {
    __atomic_store_n(&page->exit, ExitKind::exited, __ATOMIC_RELAXED);
  }
  if (page->storage == Storage::drained) {
    // What came from here on would be counted and never written.
    __atomic_store_n(&detail::armed.load()->generation, 0, __ATOMIC_RELEASE);
  }
  stop_supply();
}

}  // namespace

namespace {

// Tells that a thread ends, so that its lane is lent again at once. Only a key whose values lie in
// the thread itself: glibc allocates for the others, and the first record of a thread may be made
// in a signal handler. Threads that it does not see are found by the helper.
constexpr pthread_key_t kKeysInThread = 32;
constinit pthread_key_t end_of_thread_key = kKeysInThread;

void on_end_of_thread(void* lane) {
  detail::ThreadLane& mine = detail::thread_lane;
  if (mine.lane != lane || mine.generation != detail::generation()) {
    return;  // of the process from which this one was forked
  }
  mine = {nullptr, 0};  // who records even later takes a lane anew
  LaneInfo* info = static_cast<Lane*>(lane)->info;
  __atomic_store_n(&info->tid, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&info->state, 2, __ATOMIC_RELEASE);
}

void watch_ends_of_threads() {
  pthread_key_t key;
  if (end_of_thread_key == kKeysInThread && pthread_key_create(&key, on_end_of_thread) == 0) {
    if (key < kKeysInThread) {
      end_of_thread_key = key;
    } else {
      pthread_key_delete(key);
    }
  }
}

}  // namespace

namespace detail {

alignas(128) constinit std::atomic<Armed*> armed{&before_start.armed};
thread_local constinit ThreadLane thread_lane{nullptr, 0};

Lane* attach() {
  const std::uint32_t generation = detail::generation();
  if (generation == 0) {
    return nullptr;
  }
  if (thread_lane.generation == generation) {
    return nullptr;  // asked before: there was no lane
  }
  Lane* lane = claim_lane();
  thread_lane = {lane, generation};
  if (lane != nullptr) {
    // The only system calls of a thread's recording life: the helper finds dead threads by their
    // id, and looks at once whether several threads start together.
    __atomic_store_n(&lane->info->tid, static_cast<std::uint32_t>(syscall(SYS_gettid)),
                     __ATOMIC_RELAXED);
    if (end_of_thread_key < kKeysInThread) {
      pthread_setspecific(end_of_thread_key, lane);
    }
    wake_supply();
  }
  return lane;
}

}  // namespace detail

bool start() {
  if (armed_now()) [[likely]] {
    return true;
  }
  const int saved_errno = errno;
  if (getenv("UCTRACE_DIR") == nullptr) {
    errno = saved_errno;
    return false;
  }
  WipedPage* page = wiped_page();
  if (page == nullptr) {
    errno = saved_errno;
    return false;
  }
  if (__atomic_exchange_n(&page->starting, 1, __ATOMIC_ACQUIRE) != 0) {
    while (__atomic_load_n(&page->starting, __ATOMIC_ACQUIRE) == 1) {
      sched_yield();
    }
    errno = saved_errno;
    return armed_now();
  }
  if (page->armed.generation == 0 && page->failed == 0) {
    memset(static_cast<void*>(lanes), 0, sizeof lanes);
    returned_slots.store(nullptr, std::memory_order_relaxed);
    watch_ends_of_threads();
    if (start_supply(lanes)) {
      leave_out_unwanted_layers(*supply.page);
      detail::armed.store(&page->armed, std::memory_order_release);
      __atomic_store_n(&page->armed.generation, ++last_generation, __ATOMIC_RELEASE);
      define_process();
    } else {
      page->failed = 1;
    }
  }
  __atomic_store_n(&page->starting, 0, __ATOMIC_RELEASE);
  errno = saved_errno;
  return armed_now();
}

void* Lane::reserve_in_new_chunk(Stream stream, DropKind kind, std::size_t bytes) {
  const std::size_t s = index_of(stream);
  ChunkHeader* chunk = switching ? nullptr : take_chunk();
  if (chunk == nullptr) {
    ++counters().dropped[static_cast<std::size_t>(kind)];
    return nullptr;
  }
  switching = true;  // a signal handler that finds no room meanwhile drops its record
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const auto start = reinterpret_cast<std::uint64_t>(chunk);
  chunk->lane = index;
  chunk->stream = stream;
  __atomic_store_n(&chunk->sequence, ++sequence[s], __ATOMIC_RELEASE);
  // The chunk before the one just left: nobody can still be writing there.
  if (previous_chunk[s] != nullptr) {
    retire_chunk(previous_chunk[s]);
  }
  previous_chunk[s] = current_chunk[s];
  current_chunk[s] = chunk;
  // In this order: no mixture of the old and the new may look like room.
  cursors[s].position = kNoRoom;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  cursors[s].end = start + chunk->bytes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  cursors[s].position = start + sizeof(ChunkHeader);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  switching = false;
  return reserve_bytes(stream, kind, bytes);
}

namespace {

// The lane's list of free slots, or its other one in a signal handler that came while the first is
// being changed. None for a handler that interrupts such a handler there.
class HeldSlots {
 public:
  explicit HeldSlots(Lane* lane) {
    if (lane == nullptr) {
      return;
    }
    list_ = !lane->slots[0].busy ? &lane->slots[0] : &lane->slots[1];
    if (list_->busy) [[unlikely]] {
      list_ = nullptr;
      return;
    }
    list_->busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~HeldSlots() {
    if (list_ != nullptr) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
      list_->busy = false;
    }
  }
  HeldSlots(const HeldSlots&) = delete;
  HeldSlots& operator=(const HeldSlots&) = delete;

  SlotList* list() { return list_; }

 private:
  SlotList* list_ = nullptr;
};

void give_back(Slot* first, Slot* last) {
  Slot* head = returned_slots.load(std::memory_order_relaxed);
  do {
    last->next = head;
  } while (!returned_slots.compare_exchange_weak(head, first, std::memory_order_release,
                                                 std::memory_order_relaxed));
}

}  // namespace

Slot* acquire_slot(Lane& lane) {
  HeldSlots held(&lane);
  SlotList* list = held.list();
  Slot* slot = list != nullptr ? list->first : nullptr;
  if (slot == nullptr) [[unlikely]] {
    if (list == nullptr) {
      return nullptr;
    }
    slot = returned_slots.exchange(nullptr, std::memory_order_acquire);
    slot = slot != nullptr ? slot : take_slab();
    if (slot == nullptr) {
      return nullptr;
    }
    list->count = 0;  // the chain's length is unknown: count what comes back from here on
  }
  list->first = slot->next;
  list->count -= list->count > 0;
  return slot;
}

void release_slot(Slot* slot) {
  HeldSlots held(lane());
  SlotList* list = held.list();
  if (list == nullptr) {
    give_back(slot, slot);
    return;
  }
  slot->next = list->first;
  list->first = slot;
  if (++list->count < kOwnSlots) {
    return;
  }
  // A thread that only completes would hoard what another one posts with.
  Slot* last = slot;
  for (std::uint32_t i = 1; i < kOwnSlots / 2; ++i) {
    last = last->next;
  }
  list->first = last->next;
  list->count -= kOwnSlots / 2;
  give_back(slot, last);
}

void count_without_lane(DropKind kind) {
  if (armed_now()) {
    __atomic_fetch_add(&supply.page->dropped_without_lane[static_cast<std::size_t>(kind)], 1,
                       __ATOMIC_RELAXED);
  }
}

void define_text(TextKind kind, std::uint64_t id, const char* text, std::size_t length) {
  Lane* mine = lane();
  if (mine == nullptr) {
    return;
  }
  constexpr std::size_t kRoom = (kMaxRecordBytes - sizeof(Text)) & ~std::size_t{7};
  const bool cut = length > kRoom;
  length = cut ? kRoom : length;
  if (auto* record = mine->define<Text>(padded(length))) {
    record->tick = now();
    record->id = id;
    memcpy(record + 1, text, length);
    const auto flags = static_cast<std::uint16_t>(cut ? Text::kTruncated << 8 : 0);
    publish(record, RecordType::text, (sizeof(Text) + padded(length)) / 8,
            static_cast<std::uint16_t>(static_cast<std::uint16_t>(kind) | flags),
            static_cast<std::uint32_t>(length));
  }
}

void fault(Layer layer, FaultCode code, std::int32_t value, const char* detail) {
  Lane* mine = lane();
  if (mine == nullptr) {
    return;
  }
  const std::size_t length = strnlen(detail, 1024);
  if (auto* record = mine->define<Fault>(padded(length))) {
    record->tick = now();
    record->layer = layer;
    record->value = value;
    memcpy(record + 1, detail, length);
    publish(record, RecordType::fault, (sizeof(Fault) + padded(length)) / 8,
            static_cast<std::uint16_t>(code), static_cast<std::uint32_t>(length));
  }
}

void set_layer(Layer layer, LayerState state) {
  if (armed_now()) {
    LayerState& place = supply.page->layers[static_cast<std::size_t>(layer)];
    LayerState before = __atomic_load_n(&place, __ATOMIC_RELAXED);
    while (!is_off(before) &&  // off is final
           !__atomic_compare_exchange_n(&place, &before, state, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
  }
}

LayerState layer_state(Layer layer) {
  return armed_now() ? __atomic_load_n(&supply.page->layers[static_cast<std::size_t>(layer)],
                                       __ATOMIC_ACQUIRE)
                     : LayerState::unused;
}

void set_world(std::int32_t rank, std::int32_t size) {
  if (armed_now()) {
    __atomic_store_n(&supply.page->world_size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&supply.page->world_rank, rank, __ATOMIC_RELEASE);
  }
}

void set_exit(ExitKind kind) {
  if (armed_now()) {
    __atomic_store_n(&supply.page->exit, kind, __ATOMIC_RELAXED);
  }
}

void set_stacks(StackMode mode, Unwinder unwinder) {
  if (armed_now()) {
    supply.page->unwinder = unwinder;
    supply.page->stacks = mode;
  }
}

void see_gpu_driver() {
  if (armed_now()) {
    bool found = false;
    dl_iterate_phdr(find_gpu_driver, &found);
    if (found) {
      __atomic_store_n(&supply.page->gpu_driver, std::uint8_t{1}, __ATOMIC_RELAXED);
    }
  }
}

}  // namespace uctrace::log
