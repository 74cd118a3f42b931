#include "ucp-shim/protocols.hpp"

#include <elf.h>
#include <link.h>
#include <string.h>

#include <array>
#include <atomic>

#include "event-log/recorder/address_map.hpp"
#include "event-log/recorder/once_per_log.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/fork_lock.hpp"
#include "interpose/objects.hpp"
#include "ucp-shim/dispatch.hpp"
#include "uct-shim/deferred.hpp"

namespace uctrace::ucp {

namespace {

constexpr std::size_t kStages = 8;

// The beginning of struct ucp_proto. What follows lies where the layout says.
struct Protocol {
  const char* name;
  const char* description;  // nullptr: it has none
};

struct Layout : ucx::ProtocolPlaces {
  constexpr std::size_t bytes() const {
    return progress + kStages * sizeof(uct_pending_callback_t);
  }
};

constexpr std::size_t kMaxProtocols = 128;  // of one libucp; UCX itself allows 64
constexpr std::size_t kMaxNames = 255;      // of all
constexpr std::size_t kMaxName = 64, kMaxDescription = 256;
constexpr std::size_t kMaxSlots = 512;  // of all; a libucp has up to 77

// --- names ---------------------------------------------------------------------------------------

// Only ever added to, by whichever thread creates a worker first; UCP does not serialise that.
constinit interpose::ForkLock busy;
constinit char names[kMaxNames][kMaxName]{};
constinit std::size_t names_used = 0;
constinit log::OncePerLog names_told;

constexpr std::uint8_t kSeveral = 0;
struct Number {
  std::uint8_t protocol;
};
constinit log::AddressMap<Number, 2048> number_of_function;

void tell_name(std::size_t i) {
  log::define_text(log::TextKind::ucx_protocol, i + 1, names[i], strlen(names[i]));
}

std::uint8_t number_of(const char* name) {
  for (std::size_t i = 0; i < names_used; ++i) {
    if (strcmp(names[i], name) == 0) {
      return static_cast<std::uint8_t>(i + 1);
    }
  }
  if (names_used == kMaxNames) {
    return 0;
  }
  memcpy(names[names_used], name, strlen(name) + 1);
  tell_name(names_used);
  return static_cast<std::uint8_t>(++names_used);
}

// A fork child has a log of its own, and its parent's protocols.
void tell_names_in_new_log() {
  if (!names_told.take()) return;
  for (std::size_t i = 0; i < names_used; ++i) tell_name(i);
}

void learn_function(uct_pending_callback_t function, std::uint8_t number) {
  const void* key = reinterpret_cast<const void*>(function);
  if (auto* known = number_of_function.find(key)) {
    known->value.protocol = known->value.protocol == number ? number : kSeveral;
  } else if (auto* entry = number_of_function.claim(key)) {
    entry->value.protocol = number;
  }
}

// --- the object that the table is in -------------------------------------------------------------

// Its parts, by access rights. Addresses in it stay readable while it is loaded.
class Mapping {
 public:
  explicit Mapping(const void* address) : address_(address) { dl_iterate_phdr(take, this); }

  bool has_code(const void* at) const { return holds(code_, code_used_, at, 1); }
  bool has_data(const void* at, std::size_t bytes) const {
    return holds(readable_, readable_used_, at, bytes);
  }
  // Data that the loader did not write-protect after it was relocated.
  bool has_writable(const void* at, std::size_t bytes) const {
    return holds(writable_, writable_used_, at, bytes) && !holds(&sealed_, 1, at, 1);
  }
  bool has_text(const char* text, std::size_t most) const {
    for (std::size_t i = 0; i < most && has_data(text + i, 1); ++i) {
      if (text[i] == '\0') {
        return i > 0;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kMaxParts = 8;
  struct Part {
    std::uintptr_t begin, end;
  };

  static int take(dl_phdr_info* info, std::size_t, void* data) {
    auto* self = static_cast<Mapping*>(data);
    const auto wanted = reinterpret_cast<std::uintptr_t>(self->address_);
    bool ours = false;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      const auto& header = info->dlpi_phdr[i];
      const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
      ours |= header.p_type == PT_LOAD && wanted - begin < header.p_memsz;
    }
    if (!ours) {
      return 0;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      const auto& header = info->dlpi_phdr[i];
      const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
      const Part part{begin, begin + header.p_memsz};
      if (header.p_type == PT_GNU_RELRO) {
        self->sealed_ = part;
      } else if (header.p_type == PT_LOAD) {
        add(self->readable_, self->readable_used_, part, (header.p_flags & PF_R) != 0);
        add(self->writable_, self->writable_used_, part, (header.p_flags & PF_W) != 0);
        add(self->code_, self->code_used_, part, (header.p_flags & PF_X) != 0);
      }
    }
    return 1;
  }

  static void add(Part* parts, std::size_t& used, const Part& part, bool wanted) {
    if (wanted && used < kMaxParts) {
      parts[used++] = part;
    }
  }

  static bool holds(const Part* parts, std::size_t used, const void* at, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    for (std::size_t i = 0; i < used; ++i) {
      if (address >= parts[i].begin && address < parts[i].end && bytes <= parts[i].end - address) {
        return true;
      }
    }
    return false;
  }

  const void* address_;
  Part readable_[kMaxParts]{}, writable_[kMaxParts]{}, code_[kMaxParts]{}, sealed_{};
  std::size_t readable_used_ = 0, writable_used_ = 0, code_used_ = 0;
};

struct Table {
  Protocol** protocols;
  std::size_t count;
  Layout layout;

  const void* function(std::size_t protocol, std::size_t offset) const {
    const void* found;
    memcpy(&found, reinterpret_cast<const char*>(protocols[protocol]) + offset, sizeof found);
    return found;
  }
  uct_pending_callback_t* stages(std::size_t protocol) const {
    return reinterpret_cast<uct_pending_callback_t*>(reinterpret_cast<char*>(protocols[protocol]) +
                                                     layout.progress);
  }
};

// Looks in that very object: another copy of libucp may be in the process.
bool find_table(const void* function, Table& table) {
  const interpose::Object libucp = interpose::object_of(function);
  if (!libucp) {
    return false;
  }
  uct::set_request_mover(
      reinterpret_cast<uct_pending_purge_callback_t>(libucp.find("ucp_request_purge_enqueue_cb")));
  table.protocols = static_cast<Protocol**>(libucp.find("ucp_protocols"));
  const auto count = reinterpret_cast<unsigned (*)()>(libucp.find("ucp_protocols_count"));
  table.count = count != nullptr ? count() : 0;
  return table.protocols != nullptr && table.count > 0 && table.count <= kMaxProtocols;
}

bool looks_right(const Table& table, const Mapping& object) {
  if (!object.has_data(table.protocols, table.count * sizeof *table.protocols)) {
    return false;
  }
  for (std::size_t i = 0; i < table.count; ++i) {
    const Protocol* protocol = table.protocols[i];
    if (!object.has_writable(protocol, table.layout.bytes()) ||
        !object.has_text(protocol->name, kMaxName) ||
        (protocol->description != nullptr &&
         !object.has_text(protocol->description, kMaxDescription)) ||
        !(object.has_code(table.function(i, table.layout.add[0])) ||
          object.has_code(table.function(i, table.layout.add[1]))) ||
        !object.has_code(table.function(i, table.layout.query))) {
      return false;
    }
  }
  return true;
}

// Takes the first layout of the release at whose offsets each protocol has its name and functions.
bool find_layout(Table& table, const Mapping& object, const ucx::Release& release) {
  for (const ucx::ProtocolPlaces& places : release.protocols) {
    table.layout = {places};
    if (places.progress != 0 && looks_right(table, object)) return true;
  }
  return false;
}

// --- thunks --------------------------------------------------------------------------------------

// A function of a protocol and where it stood. After its libucp was unloaded, nothing calls it. Its
// slot then serves a libucp that is loaded at the same address later.
struct Slot {
  const uct_pending_callback_t* place;
  uct_pending_callback_t function;
  std::uint8_t protocol;
};
constinit Slot slots[kMaxSlots]{};
constinit std::size_t slots_used = 0;

template <std::size_t kSlot>
ucs_status_t thunk(uct_pending_req_t* request) {
  return dispatch_as(request, slots[kSlot].function, slots[kSlot].protocol);
}

template <std::size_t... kSlot>
constexpr std::array<uct_pending_callback_t, sizeof...(kSlot)> make_thunks(
    std::index_sequence<kSlot...>) {
  return {thunk<kSlot>...};
}
constexpr auto kThunks = make_thunks(std::make_index_sequence<kMaxSlots>{});

bool is_thunk(uct_pending_callback_t function) {
  for (const uct_pending_callback_t ours : kThunks) {
    if (ours == function) {
      return true;
    }
  }
  return false;
}

std::size_t slot_for(const uct_pending_callback_t* place) {
  for (std::size_t i = 0; i < slots_used; ++i) {
    if (slots[i].place == place) {
      return i;
    }
  }
  return slots_used < kMaxSlots ? slots_used++ : kMaxSlots;
}

// Functions outside of libucp (in libucs: "not used") post nothing for it.
template <typename Body>
void each_function(const Table& table, const Mapping& object, Body body) {
  for (std::size_t i = 0; i < table.count; ++i) {
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      uct_pending_callback_t& place = table.stages(i)[stage];
      if (object.has_code(reinterpret_cast<const void*>(place)) && !is_thunk(place)) {
        body(place, *table.protocols[i]);
      }
    }
  }
}

bool put_thunks(const Table& table, const Mapping& object) {
  std::size_t wanted = 0;
  each_function(table, object, [&](uct_pending_callback_t&, const Protocol&) { ++wanted; });
  if (slots_used + wanted > kMaxSlots) {
    return false;
  }
  each_function(table, object, [](uct_pending_callback_t& place, const Protocol& protocol) {
    const std::size_t slot = slot_for(&place);
    if (slot == kMaxSlots) return;  // never: they were counted
    slots[slot] = {&place, place, number_of(protocol.name)};
    __atomic_store_n(&place, kThunks[slot], __ATOMIC_RELEASE);
  });
  return true;
}

void report(const char* why) {
  log::fault(log::Layer::ucp, log::FaultCode::self_check_failed, 0, why);
}

}  // namespace

void use_protocols(const void* function, const ucx::Release& release, bool dispatches) {
  Table table;
  if (!release.has_protocol_table()) {
    return;
  }
  const interpose::Held held(busy);
  tell_names_in_new_log();
  if (!find_table(function, table)) {
    report("libucp has no table of protocols");
  } else if (const Mapping object(table.protocols); !find_layout(table, object, release)) {
    report("libucp's table of protocols is not as expected");
  } else if (dispatches) {
    each_function(table, object, [](uct_pending_callback_t& place, const Protocol& protocol) {
      learn_function(place, number_of(protocol.name));
    });
  } else if (!put_thunks(table, object)) {
    report("more protocols than there is room for");
  }
}

std::uint8_t protocol_of(uct_pending_callback_t function) {
  const auto* entry = number_of_function.find(reinterpret_cast<const void*>(function));
  return entry != nullptr ? entry->value.protocol : 0;
}

}  // namespace uctrace::ucp
