#include "call-stacks/modules.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include <atomic>

#include "call-stacks/callers.hpp"
#include "event-log/format/fnv.hpp"
#include "event-log/recorder/last_look.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"

namespace uctrace::stacks {
namespace {

struct Range {
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
};

struct BuildId {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
};

// The loaded modules that the log has, by a hash of the whole record. Modules beyond this room are
// written again each time something is loaded.
struct Known {
  std::uint64_t key;
  bool seen;  // in the scan under way
};
constexpr std::size_t kMaxKnown = 4096;
constinit Known known[kMaxKnown]{};
constinit std::size_t known_count = 0;
// These hold numbers of logs: in a fork child's log all modules are new, and a scan begun by a
// thread of the parent does not count.
constinit std::atomic<std::uint32_t> scanning{0};
constinit std::atomic<std::uint32_t> scanned_log{0};
constexpr std::uint64_t kNever = ~std::uint64_t{0};           // some did not fit: scan again
constinit std::atomic<std::uint64_t> scanned_changes{0};      // in `scanned_log`
constinit std::atomic<unsigned long long> known_unloaded{0};  // at the last check
constinit std::atomic<std::uint32_t> generation{1};
constinit std::atomic<std::uint32_t> unloading{0};  // threads in dlclose()

Range code_of(const dl_phdr_info& object) {
  Range range;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    range.begin = begin < range.begin ? begin : range.begin;
    range.end = begin + part.p_memsz > range.end ? begin + part.p_memsz : range.end;
  }
  return range;
}

BuildId build_id_in(const unsigned char* at, const unsigned char* end) {
  while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, at, sizeof note);
    const unsigned char* name = at + sizeof note;
    const unsigned char* bytes = name + (note.n_namesz + 3u) / 4 * 4;
    const unsigned char* next = bytes + (note.n_descsz + 3u) / 4 * 4;
    if (next > end || next < at) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
      return {bytes, note.n_descsz};
    }
    at = next;
  }
  return {};
}

BuildId build_id_of(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(object.dlpi_addr + part.p_vaddr);
    const BuildId found = build_id_in(at, at + part.p_memsz);
    if (found.size != 0) return found;
  }
  return {};
}

bool is_new(std::uint64_t key) {
  for (std::size_t i = 0; i < known_count; ++i) {
    if (known[i].key != key) continue;
    known[i].seen = true;
    return false;
  }
  if (known_count < kMaxKnown) known[known_count++] = {key, true};
  return true;
}

// An unloaded module may come back after another one had its place.
void forget_unseen() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < known_count; ++i) {
    if (known[i].seen) known[kept++] = {known[i].key, false};
  }
  known_count = kept;
}

// The program itself has no name in the loader's list; the log has its path as another text.
int define_module(dl_phdr_info* object, std::size_t, void* all_written) {
  constexpr std::size_t kMaxPath = 1536, kMaxBuildId = 64;
  const Range code = code_of(*object);
  if (code.begin >= code.end) return 0;
  BuildId id = build_id_of(*object);
  id.size = id.size < kMaxBuildId ? id.size : kMaxBuildId;
  const std::size_t path_bytes = strnlen(object->dlpi_name, kMaxPath);
  log::Fnv64 hash;
  hash.add({reinterpret_cast<const char*>(&code), sizeof code});
  hash.add({reinterpret_cast<const char*>(id.bytes), id.size});
  hash.add({object->dlpi_name, path_bytes});
  const std::uint64_t key = hash.value();
  if (!is_new(key)) return 0;
  log::Lane* lane = log::lane();
  const std::size_t tail = log::padded(id.size) + log::padded(path_bytes);
  auto* record = lane != nullptr ? lane->define<log::Module>(tail) : nullptr;
  if (record == nullptr) {  // no room: stays new for the next scan
    if (known_count != 0 && known[known_count - 1].key == key) --known_count;
    *static_cast<bool*>(all_written) = false;
    return 1;
  }
  record->tick = log::now();
  record->bias = object->dlpi_addr;
  record->begin = code.begin;
  record->end = code.end;
  auto* behind = reinterpret_cast<unsigned char*>(record + 1);
  if (id.size != 0) memcpy(behind, id.bytes, id.size);
  memcpy(behind + log::padded(id.size), object->dlpi_name, path_bytes);
  log::publish(record, log::RecordType::module, (sizeof *record + tail) / 8,
               static_cast<std::uint16_t>(id.size), static_cast<std::uint32_t>(path_bytes));
  return 0;
}

// How often the loader loaded and unloaded so far.
struct Changes {
  unsigned long long loaded, unloaded;
};

Changes changes_of_loader() {
  Changes changes{};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        *static_cast<Changes*>(result) = {object->dlpi_adds, object->dlpi_subs};
        return 1;
      },
      &changes);
  return changes;
}

// Whether code was unloaded since the last call, even if not through our dlclose().
bool is_new_unloading(const Changes& now) {
  return known_unloaded.exchange(now.unloaded) != now.unloaded;
}

void code_is_gone() {
  generation.fetch_add(1);
  forget_callers();
}

}  // namespace

std::uint32_t code_generation() { return generation.load(std::memory_order_acquire); }

bool is_unloading() { return unloading.load() != 0; }

bool define_new_modules() {
  const std::uint32_t log_number = log::log_number();
  const Changes changes = changes_of_loader();
  const std::uint64_t count = changes.loaded + changes.unloaded;
  const bool same_log = scanned_log.load(std::memory_order_acquire) == log_number;
  if (same_log && count == scanned_changes.load(std::memory_order_acquire)) return true;
  if (is_new_unloading(changes)) code_is_gone();
  // A scan under way on another thread serves this one, too: a reader that finds no module before a
  // stack looks after it.
  if (scanning.exchange(log_number, std::memory_order_acq_rel) == log_number) return false;
  if (!same_log) known_count = 0;
  bool all_written = true;
  dl_iterate_phdr(define_module, &all_written);
  if (all_written) {
    forget_unseen();
  } else {
    for (std::size_t i = 0; i < known_count; ++i) known[i].seen = false;
  }
  scanned_changes.store(all_written ? count : kNever, std::memory_order_release);
  scanned_log.store(log_number, std::memory_order_release);
  scanning.store(0, std::memory_order_release);
  return all_written;
}

bool is_own_code(std::uintptr_t address) {
  static constinit Range own;
  static constinit std::atomic<bool> measured{false};
  if (!measured.load(std::memory_order_acquire)) {
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void*) {
          const Range code = code_of(*object);
          const auto here = reinterpret_cast<std::uintptr_t>(&is_own_code);
          if (here < code.begin || here >= code.end) return 0;
          own = code;
          return 1;
        },
        nullptr);
    measured.store(true, std::memory_order_release);
  }
  return address - own.begin < own.end - own.begin;
}

namespace {

int unload(int (*close)(void*), void* handle) {
  if (scanned_log.load(std::memory_order_acquire) == 0) return close(handle);
  unloading.fetch_add(1);
  forget_callers();
  const int result = close(handle);
  const int saved_errno = errno;
  if (is_new_unloading(changes_of_loader())) generation.fetch_add(1);
  unloading.fetch_sub(1);
  errno = saved_errno;
  return result;
}

using Finalize = void(void*);

Finalize* next_finalize() {
  static constinit std::atomic<Finalize*> found{nullptr};
  Finalize* next = found.load(std::memory_order_acquire);
  if (next == nullptr) {
    next = reinterpret_cast<Finalize*>(dlsym(RTLD_NEXT, "__cxa_finalize"));
    found.store(next, std::memory_order_release);
  }
  return next;
}

// No search for the original while a library is being unloaded.
__attribute__((constructor)) void find_next_finalize() { next_finalize(); }

}  // namespace
}  // namespace uctrace::stacks

// The last moment before code is unloaded. A library that others keep open stays, and nothing
// changes.
UCTRACE_EXPORT int dlclose(void* handle) noexcept {
  using namespace uctrace;
  static constinit interpose::Original<int (*)(void*)> original{"dlclose"};
  auto* next = original.get(__builtin_return_address(0));
  log::take_last_looks(log::Moment::before_unload);
  return stacks::unload(next, handle);
}

// Calls of dlclose() may bypass this library: UCX patches the function in memory, and a UCX in a
// private scope goes on to the C library's. But the start-up code of every library calls this
// function when the library is unloaded, and when the process ends.
UCTRACE_EXPORT void __cxa_finalize(void* library) {
  using namespace uctrace::stacks;
  if (auto* next = next_finalize()) next(library);
  if (scanned_log.load(std::memory_order_acquire) != 0) code_is_gone();
}
