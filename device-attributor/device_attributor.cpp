#include "device-attributor/device_attributor.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <string.h>

#include <algorithm>
#include <iterator>

#include "device-attributor/definitions.hpp"
#include "device-attributor/history.hpp"
#include "device-attributor/memory_events.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/gpu_devices.hpp"
#include "event-log/recorder/left_layer.hpp"
#include "interpose/original.hpp"
#include "interpose/scope.hpp"

namespace uctrace::gpu {

constinit Attributor attributor;

namespace {

// A vendor's driver; only the thread that has the turn changes it.
struct Driver {
  const Vendor* vendor;
  std::uint64_t not_before_tick;  // at this time it was not loaded
  // The log in which it is defined, 0 = none yet: a fork child begins its own.
  std::uint32_t log_number;
  bool unusable;
};
constinit Driver drivers[kVendorCount]{};
constinit std::uint64_t last_look = 0;  // when it began, 0 = none yet
// The log in which all drivers that are asked are defined.
constinit std::atomic<std::uint32_t> defined_log{0};
constinit std::uint32_t known_log =
    0;  // log of the process that the attributor's knowledge is from, 0 = none yet

// One thread at a time looks. Holds the number of its log: a fork child must not wait for a thread
// that it does not have.
constinit std::atomic<std::uint32_t> looking{0};

class Turn {
 public:
  // Other threads wait, but not for ever: the thread that has the turn may wait for the loader
  // while the loader runs one of them.
  Turn() : log_number_(log::log_number()) {
    constexpr int kPatience = 10000;
    for (int i = 0; i < kPatience && !taken_; ++i) {
      std::uint32_t holder = looking.load(std::memory_order_relaxed);
      taken_ = holder != log_number_ &&
               looking.compare_exchange_strong(holder, log_number_, std::memory_order_acquire);
      if (!taken_) sched_yield();
    }
  }
  ~Turn() {
    if (taken_) looking.store(0, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return taken_; }

 private:
  std::uint32_t log_number_;
  bool taken_ = false;
};

// Whether it is the file of this library; the version in its name may differ or be missing.
bool is_file_of(const char* soname, const char* path) {
  const char* slash = strrchr(path, '/');
  const char* ending = strstr(soname, ".so");
  const std::size_t length =
      ending != nullptr ? static_cast<std::size_t>(ending - soname) + 3 : strlen(soname);
  return strncmp(slash != nullptr ? slash + 1 : path, soname, length) == 0;
}

// The vendors whose library is loaded, by place.
struct Loaded {
  bool vendors[kVendorCount];
};

int note_vendors(dl_phdr_info* object, std::size_t, void* data) {
  for (const Vendor* const* one = kVendors; *one != nullptr; ++one) {
    static_cast<Loaded*>(data)->vendors[place_of((*one)->name)] |=
        is_file_of((*one)->library, object->dlpi_name);
  }
  return 0;
}

void* open_loaded(const char* soname) {
  return dlopen(soname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
}

// It stays loaded: the functions to ask it are in it.
void find_driver(const Vendor& vendor, Driver& driver) {
  void* library = open_loaded(vendor.library);
  if (library == nullptr) {
    return;
  }
  const char* missing = "";
  if (vendor.resolve(library, &missing)) {
    driver.vendor = &vendor;
    driver.not_before_tick = last_look;
    return;
  }
  driver.unusable = true;
  attributor.distrust_host();
  log::fault(log::Layer::gpu, log::FaultCode::gpu_driver_unusable, 0, missing);
  dlclose(library);
}

// Only loaded libraries are opened: for others the loader would search its folders for the file
// each time. A driver without a GPU has no memory to ask about.
void find_drivers() {
  Loaded loaded{};
  dl_iterate_phdr(note_vendors, &loaded);
  for (const Vendor* const* one = kVendors; *one != nullptr; ++one) {
    const std::size_t place = place_of((*one)->name);
    Driver& driver = drivers[place];
    if (loaded.vendors[place] && driver.vendor == nullptr && !driver.unusable &&
        !log::lacks_gpu_device((*one)->name)) {
      find_driver(**one, driver);
    }
  }
}

void define_library(const Vendor& vendor) {
  void* library = open_loaded(vendor.library);
  struct link_map* map = nullptr;
  if (library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) {
    log::define_text(log::TextKind::gpu_library, static_cast<std::uint64_t>(vendor.name),
                     map->l_name, strlen(map->l_name));
  }
  if (library != nullptr) dlclose(library);
}

// Defines a driver in the log of this process; from then on it is asked. A driver from the parent's
// log may have been loaded from the beginning. False: the log has no room.
bool define(Driver& driver) {
  const std::uint64_t not_before = driver.log_number == 0 ? driver.not_before_tick : 0;
  if (!define_driver(*driver.vendor, not_before)) {
    return false;
  }
  define_library(*driver.vendor);
  driver.log_number = log::log_number();
  attributor.use(*driver.vendor, log::counts_only() ? kCountingListener : kListener);
  return true;
}

void forget_parent() {
  attributor.start_anew();
  for (const Driver& driver : drivers) {
    if (driver.vendor != nullptr && driver.vendor->start_anew != nullptr) {
      driver.vendor->start_anew();
    }
  }
}

// Defines all found drivers in the log of this process, and drops the knowledge of a parent. If the
// log has no room, the next look or use tries again.
void begin_log() {
  const std::uint32_t number = log::log_number();
  if (known_log != number && known_log != 0) forget_parent();
  known_log = number;
  bool any = false;
  for (Driver& driver : drivers) {
    if (driver.vendor == nullptr) continue;
    if (driver.log_number != number && !define(driver)) return;
    any = true;
  }
  if (any && defined_log.load(std::memory_order_relaxed) != number) {
    log::set_layer(log::Layer::gpu, log::LayerState::on);
    defined_log.store(number, std::memory_order_release);
    define_history();
  }
}

// Watches each libucm once, however often it is seen.
void watch_events(const void* caller) {
  constexpr std::size_t kMostLibraries = 8;
  static constinit void* watched[kMostLibraries]{};
  void* set_handler = interpose::Scope(caller).find_function("ucm_set_event_handler");
  for (void*& one : watched) {
    if (one == set_handler) {
      return;
    }
    if (one == nullptr) {
      one = set_handler;
      int status = 0;
      if (watch_memory_events(set_handler, attributor, &status) == Events::refused) {
        log::fault(log::Layer::gpu, log::FaultCode::gpu_events_refused, status,
                   interpose::module_path(set_handler));
      }
      return;
    }
  }
}

// The layer stays off until there is a driver that can be asked.
void leave_layer_off() {
  const bool unusable = std::any_of(std::begin(drivers), std::end(drivers),
                                    [](const Driver& driver) { return driver.unusable; });
  if (unusable) log::leave_layer(log::Layer::gpu);
}

void look(const void* caller) {
  const std::uint64_t begun = log::now();  // a driver that is loaded meanwhile may be missed
  find_drivers();
  begin_log();
  bool any = false;
  for (const Driver& driver : drivers) {
    if (driver.vendor == nullptr) continue;
    any = true;
    note_missing_history(*driver.vendor);
  }
  if (any) {
    define_devices();
    watch_events(caller);
    if (!active()) {
      log::count_memory();
      log::want(log::kWantMemory);
    }
  } else {
    leave_layer_off();
  }
  last_look = begun;
}

// True once the driver is in this log. Until then the knowledge is that of the parent process; it
// is dropped first.
[[gnu::noinline, gnu::cold]] bool renew() {
  const Turn turn;
  if (!turn) {
    return false;
  }
  if (defined_log.load(std::memory_order_acquire) != log::log_number()) {
    begin_log();
  }
  return defined_log.load(std::memory_order_relaxed) == log::log_number();
}

}  // namespace

// Also on a thread without a lane, which cannot define what it learns.
bool is_driver_in_log() {
  const std::uint32_t number = log::log_number();
  return number != 0 && defined_log.load(std::memory_order_acquire) == number;
}

void look_for_drivers(const void* caller) {
  const log::Lane* lane = log::lane();
  if (lane == nullptr || !log::keeps_records()) {
    return;
  }
  const int saved_errno = errno;
  if (const Turn turn; turn) {
    look(caller);
  }
  errno = saved_errno;
}

namespace {

log::MemoryId find(log::Lane& lane, std::uintptr_t address, Interval& found) {
  const int saved_errno = errno;
  log::MemoryId memory = log::kUnknownMemory;
  if (defined_log.load(std::memory_order_acquire) == log::log_number() || renew()) [[likely]] {
    memory = attributor.find(address, found);
    define_missing_devices();
  }
  if (memory >= log::kFirstDeviceMemory) {
    note_use(memory);
  }
  lane.counters().memory_unknown += memory == log::kUnknownMemory;
  errno = saved_errno;
  return memory;
}

}  // namespace

log::MemoryId memory_of(log::Lane& lane, std::uintptr_t address) {
  Interval found{};
  return find(lane, address, found);
}

DataPlace data_place_of(log::Lane& lane, const void* address) {
  using Kind = DataPlace::Kind;
  Interval found{};
  const log::MemoryId memory = find(lane, reinterpret_cast<std::uintptr_t>(address), found);
  switch (found.kind) {
    case DeviceMemoryKind::none:
      return {.kind = memory == log::kHostMemory ? Kind::host : Kind::unknown};
    case DeviceMemoryKind::pinned:
    case DeviceMemoryKind::mapped_host:
      return {.kind = Kind::host};
    case DeviceMemoryKind::managed:
      return {.kind = Kind::managed, .device = defined_number(found.vendor, found.device)};
    default:
      return {.kind = Kind::gpu, .device = defined_number(found.vendor, found.device)};
  }
}

bool is_same_place(const void* one, const void* other) {
  return attributor.is_same_place(reinterpret_cast<std::uintptr_t>(one),
                                  reinterpret_cast<std::uintptr_t>(other));
}

void find_memory(log::Lane& lane, const void* begin, std::size_t bytes) {
  auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t end = at + bytes;
  while (at < end) {
    memory_of(lane, at);
    const std::uintptr_t next = attributor.end_of(at);
    if (next <= at) break;  // all of the rest is host memory
    at = next;
  }
}

}  // namespace uctrace::gpu
