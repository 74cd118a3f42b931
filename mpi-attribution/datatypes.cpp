#include "mpi-attribution/datatypes.hpp"

#include <atomic>
#include <cstring>

#include "event-log/recorder/new_log.hpp"
#include "mpi-attribution/ask_datatype.hpp"
#include "mpi-attribution/communicators.hpp"

namespace uctrace::mpi {

namespace detail {
constinit Handle known_datatypes[std::size_t{1} << kDatatypeBits]{};
}  // namespace detail

namespace {

constexpr std::size_t kTries = 4;
constexpr std::size_t kLongestName = 512;  // more than any MPI_MAX_OBJECT_NAME

// Whether the log may have a definition whose handle is not in the table.
constinit std::atomic<bool> some_gave_way{false};

Handle& place_of(Handle handle, std::size_t attempt) {
  constexpr std::size_t kPlaces = std::size_t{1} << detail::kDatatypeBits;
  return detail::known_datatypes[(detail::place_of_datatype(handle) + attempt) % kPlaces];
}

Handle load(const Handle& place) { return __atomic_load_n(&place, __ATOMIC_RELAXED); }
void store(Handle& place, Handle handle) { __atomic_store_n(&place, handle, __ATOMIC_RELAXED); }

bool is_known(Handle handle) {
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    if (load(place_of(handle, attempt)) == handle) return true;
  }
  return false;
}

// Uses the first free place, else replaces another handle, which is then defined again at its next
// use.
void note(Handle handle) {
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    Handle none = 0;
    if (__atomic_compare_exchange_n(&place_of(handle, attempt), &none, handle, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return;
    }
  }
  some_gave_way.store(true, std::memory_order_relaxed);
  store(place_of(handle, 0), handle);
}

void forget_all() {
  for (Handle& known : detail::known_datatypes) store(known, 0);
}

bool define(Handle handle, std::uint64_t tick) {
  const Describing& ask = library.describing;
  std::int64_t size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  library.ask.type_size_x(handle, &size);
  ask.type_get_extent_x(handle, &lower, &extent);
  ask.type_get_true_extent_x(handle, &true_lower, &true_extent);
  char name[kLongestName] = "";
  int length = 0;
  ask.type_get_name(handle, name, &length);
  const std::size_t name_bytes = strnlen(name, sizeof name);
  const log::Combiner combiner = combiner_of(handle);

  log::Lane* lane = log::lane();
  if (lane == nullptr) return false;
  auto* record = lane->define<log::Datatype>(log::padded(name_bytes));
  if (record == nullptr) return false;
  record->tick = tick;
  record->handle = handle;
  record->size = static_cast<std::uint64_t>(size);
  record->extent = extent;
  std::memcpy(record + 1, name, name_bytes);
  const bool contiguous = size == extent && size == true_extent && lower == true_lower;
  log::publish(record, log::RecordType::datatype, (sizeof *record + log::padded(name_bytes)) / 8,
               static_cast<std::uint16_t>(static_cast<unsigned>(combiner) |
                                          (contiguous ? log::Datatype::kContiguous : 0u)),
               static_cast<std::uint32_t>(name_bytes));
  return true;
}

}  // namespace

namespace detail {
[[gnu::noinline, gnu::cold]] void learn_datatype(Handle handle, std::uint64_t tick) {
  if (!library.can_describe || is_known(handle)) return;
  log::at_new_log(forget_all);
  if (define(handle, tick)) note(handle);
}
}  // namespace detail

void forget_datatype(Handle handle) {
  if (handle == 0) return;
  bool defined = some_gave_way.load(std::memory_order_relaxed);
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    Handle known = handle;
    defined |= __atomic_compare_exchange_n(&place_of(handle, attempt), &known, Handle{0}, false,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  if (defined) end_handle(log::RecordType::datatype_free, handle);
}

}  // namespace uctrace::mpi
