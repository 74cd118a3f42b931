// What the log says about the process: its definitions and its page.
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "device-attributor/vendor-facts/vendor_facts.hpp"
#include "event-log/format/file_name.hpp"
#include "event-log/recorder/counter_store.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/gpu_devices.hpp"
#include "event-log/recorder/left_layer.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/recorder_parts.hpp"

namespace uctrace::log {

namespace {

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

int find_gpu_driver(dl_phdr_info* object, std::size_t, void* found) {
  const char* name = strrchr(object->dlpi_name, '/');
  name = name != nullptr ? name + 1 : object->dlpi_name;
  for (const gpu::VendorFacts& facts : gpu::kVendorFacts) {
    if (lacks_gpu_device(facts.vendor)) continue;
    for (const char* library : facts.libraries) {
      if (library != nullptr && strncmp(name, library, strlen(library)) == 0) {
        *static_cast<bool*>(found) = true;
      }
    }
  }
  return 0;
}

}  // namespace

void define_process() {
  char path[1900];
  look_for_gpu_devices();
  define_file(TextKind::command_line, "/proc/self/cmdline");
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n > 0) {
    define_text(TextKind::executable, 0, path, static_cast<std::size_t>(n));
  }
  if (getcwd(path, sizeof path) != nullptr) {
    define_text(TextKind::working_directory, 0, path, strlen(path));
  }
  define_settings();
}

void define_text(TextKind kind, std::uint64_t id, const char* text, std::size_t length) {
  define_text_of(now(), kind, id, text, length);
}

void define_text_of(std::uint64_t tick, TextKind kind, std::uint64_t id, const char* text,
                    std::size_t length) {
  Lane* mine = lane();
  if (mine == nullptr) {
    return;
  }
  constexpr std::size_t kRoom = (kMaxRecordBytes - sizeof(Text)) & ~std::size_t{7};
  const bool cut = length > kRoom;
  length = cut ? kRoom : length;
  if (auto* record = mine->define<Text>(padded(length))) {
    record->tick = tick;
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

namespace {

// Layers that are off because one library was left alone, but not for good.
constinit std::atomic<bool> left[kLayers]{};

bool is_final(Layer layer, LayerState state) {
  return state == LayerState::unwanted ||
         (state == LayerState::off && !left[static_cast<std::size_t>(layer)].load());
}

}  // namespace

void set_layer(Layer layer, LayerState state) {
  if (!armed_now()) return;
  const auto number = static_cast<std::size_t>(layer);
  LayerState& place = pool.page->layers[number];
  if (state == LayerState::off) left[number].store(false);
  LayerState before = __atomic_load_n(&place, __ATOMIC_RELAXED);
  while (!is_final(layer, before) &&
         !__atomic_compare_exchange_n(&place, &before, state, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
}

void leave_layer(Layer layer) {
  if (!armed_now()) return;
  const auto number = static_cast<std::size_t>(layer);
  LayerState unused = LayerState::unused;
  if (__atomic_compare_exchange_n(&pool.page->layers[number], &unused, LayerState::off, false,
                                  __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    left[number].store(true);
  }
}

bool is_off_for_good(Layer layer) { return is_final(layer, layer_state(layer)); }

LayerState layer_state(Layer layer) {
  return armed_now() ? __atomic_load_n(&pool.page->layers[static_cast<std::size_t>(layer)],
                                       __ATOMIC_ACQUIRE)
                     : LayerState::unused;
}

void set_world(std::int32_t rank, std::int32_t size, ThreadLevel level) {
  if (armed_now()) {
    __atomic_store_n(&pool.page->thread_level, level, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.page->world_size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.page->world_rank, rank, __ATOMIC_RELEASE);
    set_counter_world(rank, size);
    constexpr std::size_t kRowsOfPeer = 4, kMostExpected = 65536;
    const std::size_t rows = kRowsOfPeer * static_cast<std::size_t>(size > 0 ? size : 0);
    expect_rows(rows < kMostExpected ? rows : kMostExpected);
  }
}

void set_exit(ExitKind kind) {
  if (armed_now()) {
    __atomic_store_n(&pool.page->exit, kind, __ATOMIC_RELAXED);
  }
}

void set_stacks(StackMode mode, Unwinder unwinder) {
  if (armed_now()) {
    pool.page->unwinder = unwinder;
    pool.page->stacks = mode;
  }
}

bool name_of_node(char* out, std::size_t size, const char* added) {
  const char* folder = getenv("UCTRACE_DIR");
  if (folder == nullptr || !armed_now()) {
    return false;
  }
  NamePart host;
  const int n = snprintf(out, size, "%s/%s-%.8s%s", folder, write_name_part(host, pool.page->host),
                         pool.page->boot_id, added);
  return n > 0 && static_cast<std::size_t>(n) < size;
}

void run_beside(void* (*task)(void*)) { pool.task.store(task, std::memory_order_release); }

void see_gpu_driver() {
  if (armed_now()) {
    bool found = false;
    dl_iterate_phdr(find_gpu_driver, &found);
    if (found) {
      __atomic_store_n(&pool.page->gpu_driver, std::uint8_t{1}, __ATOMIC_RELAXED);
    }
  }
}

}  // namespace uctrace::log
