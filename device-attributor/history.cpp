#include "device-attributor/history.hpp"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device-attributor/definitions.hpp"
#include "device-attributor/history.h"
#include "event-log/recorder/process_identity.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"

namespace uctrace::gpu {

namespace {

using log::FaultCode;

// The values of history.h are those of the log.
static_assert(UCTRACE_MEMORY_DEVICE == static_cast<int>(DeviceMemoryKind::device) &&
              UCTRACE_MEMORY_POOL == static_cast<int>(DeviceMemoryKind::pool) &&
              UCTRACE_MEMORY_MANAGED == static_cast<int>(DeviceMemoryKind::managed) &&
              UCTRACE_MEMORY_MAPPED == static_cast<int>(DeviceMemoryKind::mapped) &&
              UCTRACE_MEMORY_MAPPED_HOST == static_cast<int>(DeviceMemoryKind::mapped_host) &&
              UCTRACE_MEMORY_PINNED == static_cast<int>(DeviceMemoryKind::pinned) &&
              UCTRACE_MEMORY_IMPORTED == static_cast<int>(DeviceMemoryKind::imported));
static_assert(UCTRACE_VENDOR_CUDA == static_cast<int>(log::Vendor::cuda) &&
              UCTRACE_VENDOR_ROCM == static_cast<int>(log::Vendor::rocm) &&
              UCTRACE_VENDOR_LEVEL_ZERO == static_cast<int>(log::Vendor::level_zero));

constexpr const char* kWanted = "UCTRACE_GPU_HISTORY";  // what `record --gpu-history` asks for

enum class State : std::uint8_t { none, telling, begun, refused };
constinit std::atomic<State> state{State::none};
constinit char text[256];  // who tells, or why nobody does
constinit std::atomic<bool> is_incomplete{false};
constinit std::atomic<unsigned> met{0};
// For each vendor, by place: the log that says that there is no history.
constinit std::atomic<std::uint32_t> missed_logs[kVendorCount]{};

// The value of the fault.
enum Lack : int { kNobodyTells = 0, kNotAllKept = 1, kVendorHasNone = 2 };

void refuse(Lack lack, const char* detail) {
  log::fault(log::Layer::gpu, FaultCode::gpu_history_refused, lack, detail);
}

void say_state() {
  switch (state.load(std::memory_order_acquire)) {
    case State::begun:
      log::define_text(log::TextKind::gpu_history, 0, text, strlen(text));
      break;
    case State::refused:
      refuse(kNobodyTells, text);
      break;
    default:
      break;
  }
}

// The first report counts. Times are taken from now on, maybe long before the log begins.
void set_state(State told, const char* why) {
  State before = State::none;
  if (getenv("UCTRACE_DIR") == nullptr ||
      !state.compare_exchange_strong(before, State::telling, std::memory_order_acq_rel)) {
    return;
  }
  if (log::log_number() == 0) log::tick_clock = log::choose_clock();
  if (why != nullptr) strncpy(text, why, sizeof text - 1);
  state.store(told, std::memory_order_release);
  if (is_driver_in_log()) say_state();
}

// Orders the two sides: either define_history() sees a kept allocation, or the thread that kept it
// sees that the log has the driver.
void meet() { met.fetch_add(1, std::memory_order_acq_rel); }

void on_freed(std::uintptr_t begin, std::size_t bytes) {
  if (!attributor.forget(begin, bytes)) note_incomplete_history();
}

void define_or_give_up(const Interval& allocation) {
  if (!define_allocated(allocation)) {
    attributor.give_up(allocation);
    note_incomplete_history();
  }
}

void on_allocated(const struct uctrace_device_event& event) {
  if (event.bytes == 0 || event.bytes > UINTPTR_MAX - event.begin) {
    return;
  }
  const auto vendor = static_cast<log::Vendor>(event.vendor);
  if (event.kind == UCTRACE_MEMORY_UNKNOWN || event.kind > UCTRACE_MEMORY_IMPORTED ||
      event.vendor > kVendorCount || facts_of(vendor) == nullptr) {
    on_freed(event.begin, event.bytes);
    return;
  }
  Interval allocation{.begin = event.begin,
                      .end = event.begin + event.bytes,
                      .buffer_id = 0,
                      .memory = log::kMemoryNotAsked,
                      .kind = static_cast<DeviceMemoryKind>(event.kind),
                      .vendor = vendor,
                      .device = static_cast<std::int16_t>(event.device),
                      .allocated_tick = log::now()};
  allocation.memory = attributor.allocated(allocation);
  meet();
  if (allocation.memory == log::kMemoryNotAsked) {
    note_incomplete_history();
  } else if (is_driver_in_log()) {
    define_or_give_up(allocation);
  }
}

}  // namespace

void note_incomplete_history() {
  // A thread without a lane cannot record it: another one will at the next loss.
  if (log::lane() == nullptr && is_driver_in_log()) return;
  if (!is_incomplete.exchange(true, std::memory_order_relaxed) && is_driver_in_log())
    refuse(kNotAllKept, "");
}

void define_history() {
  meet();
  if (const char* wanted = getenv(kWanted)) {
    log::define_text(log::TextKind::gpu_history, 1, wanted, strlen(wanted));
  }
  say_state();
  if (is_incomplete.load(std::memory_order_relaxed)) refuse(kNotAllKept, "");
  attributor.each_allocated(define_or_give_up);
}

void note_missing_history(const Vendor& vendor) {
  const char* wanted = getenv(kWanted);
  const std::uint32_t number = log::log_number();
  const VendorFacts& facts = kVendorFacts[place_of(vendor.name)];
  const char* variable = facts.history_variable;
  std::atomic<std::uint32_t>& missed_log = missed_logs[place_of(vendor.name)];
  const bool is_told = variable != nullptr && state.load(std::memory_order_acquire) != State::none;
  if (wanted == nullptr || is_told || missed_log.load(std::memory_order_relaxed) == number ||
      vendor.device_count() == 0 ||
      missed_log.exchange(number, std::memory_order_relaxed) == number) {
    return;
  }
  const char* injected = variable != nullptr ? getenv(variable) : nullptr;
  char why[512];
  if (variable == nullptr) {
    snprintf(why, sizeof why, "drivers of %s load no library that could tell of allocations",
             facts.title);
  } else if (injected != nullptr && strcmp(injected, wanted) != 0) {
    snprintf(why, sizeof why, "%s is taken by %s", variable, injected);
  } else {
    snprintf(why, sizeof why, "the driver did not load %s", wanted);
  }
  refuse(variable == nullptr ? kVendorHasNone : kNobodyTells, why);
}

}  // namespace uctrace::gpu

using namespace uctrace::gpu;

UCTRACE_EXPORT void uctrace_device_event(const struct uctrace_device_event* event) {
  const int saved_errno = errno;  // the program's, of the function that it called
  if (event->version == UCTRACE_DEVICE_EVENT_VERSION) {
    const bool begun = state.load(std::memory_order_acquire) == State::begun;
    if (event->type == UCTRACE_HISTORY_BEGINS) {
      set_state(State::begun, event->text);
    } else if (event->type == UCTRACE_HISTORY_REFUSED) {
      set_state(State::refused, event->text);
    } else if (begun && event->type == UCTRACE_MEMORY_ALLOCATED) {
      on_allocated(*event);
    } else if (begun && event->type == UCTRACE_MEMORY_FREED) {
      on_freed(event->begin, event->bytes != 0 ? event->bytes : 1);
    }
  } else {
    set_state(State::refused, "the library that was to tell is of another version of uctrace");
  }
  errno = saved_errno;
}
