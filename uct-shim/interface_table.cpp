#include "uct-shim/interface_table.hpp"

#include "interpose/fork_lock.hpp"

namespace uctrace::uct {

namespace detail {
constinit InterfacePlace interface_places[kPlaces]{};
}  // namespace detail

namespace {

using detail::interface_places;
using detail::InterfacePlace;
using detail::kPlaces;
using interpose::ForkLock;
using interpose::Held;

constexpr std::size_t kMostPlaces = kPlaces / 4 * 3;  // with a key: every search ends
constexpr std::size_t kIds = std::size_t{1} << 16;
constexpr std::size_t kIdsOfWord = 64;

// Guards all below. The data is valid after each single store, as a fork child may see it; at most
// an entry or an id stays taken.
constinit ForkLock lock{};
constinit Interface entries[kMaxInterfaces]{};
constinit bool is_taken[kMaxInterfaces]{};
constinit std::uint64_t ids_taken[kIds / kIdsOfWord]{};
constinit std::uint16_t newest_id = 0;
constinit std::size_t keys = 0;

std::uint64_t bit_of(std::uint16_t id) { return std::uint64_t{1} << id % kIdsOfWord; }
std::uint64_t& word_of(std::uint16_t id) { return ids_taken[id / kIdsOfWord]; }

// There are more ids than entries. 0 is none.
std::uint16_t take_id() {
  do {
    ++newest_id;
  } while (newest_id == 0 || (word_of(newest_id) & bit_of(newest_id)) != 0);
  word_of(newest_id) |= bit_of(newest_id);
  return newest_id;
}

void free_entry(Interface& entry) {
  word_of(entry.id) &= ~bit_of(entry.id);
  is_taken[&entry - entries] = false;
}

std::size_t after(std::size_t at) { return (at + 1) % kPlaces; }
std::size_t before(std::size_t at) { return (at + kPlaces - 1) % kPlaces; }

// The place with this key, else the first unused one on the search path; nullptr: too full.
InterfacePlace* place_for(uct_iface_h handle) {
  InterfacePlace* unused = nullptr;
  for (std::size_t at = detail::home_of(handle);; at = after(at)) {
    InterfacePlace& place = interface_places[at];
    const uct_iface_h key = place.key.load(std::memory_order_relaxed);
    if (key == handle) return &place;
    if (key == nullptr) return unused != nullptr ? unused : keys < kMostPlaces ? &place : nullptr;
    if (unused == nullptr && place.value.load(std::memory_order_relaxed) == nullptr) {
      unused = &place;
    }
  }
}

bool is_dead(std::size_t at) {
  return interface_places[at].value.load(std::memory_order_relaxed) == nullptr;
}

uct_iface_h key_at(std::size_t at) {
  return interface_places[at].key.load(std::memory_order_relaxed);
}

// Whether the search for an open interface after this place passes through it.
bool leads_on(std::size_t at) {
  for (std::size_t further = after(at); key_at(further) != nullptr; further = after(further)) {
    const std::size_t from_home = (further - detail::home_of(key_at(further))) % kPlaces;
    if (!is_dead(further) && from_home >= (further - at) % kPlaces) return true;
  }
  return false;
}

// Clears keys that no search needs, from the place of a closed interface back to the beginning of
// its run: they would make searches longer and finally fill the table.
void drop_keys(std::size_t at) {
  for (; key_at(at) != nullptr; at = before(at)) {
    if (!is_dead(at) || leads_on(at)) continue;
    interface_places[at].key.store(nullptr, std::memory_order_release);
    --keys;
  }
}

}  // namespace

Interface* take_entry() {
  const Held held(lock);
  for (std::size_t i = 0; i < kMaxInterfaces; ++i) {
    if (is_taken[i]) continue;
    is_taken[i] = true;
    entries[i].id = take_id();
    return &entries[i];
  }
  return nullptr;
}

bool show(Interface& entry) {
  const Held held(lock);
  InterfacePlace* const place = place_for(entry.handle);
  if (place == nullptr) return false;
  const uct_iface_h key = place->key.load(std::memory_order_relaxed);
  keys += key == nullptr;
  if (key != entry.handle) place->key.store(entry.handle, std::memory_order_release);
  Interface* const older = place->value.exchange(&entry, std::memory_order_acq_rel);
  // It was closed without passing us.
  if (older != nullptr) free_entry(*older);
  return true;
}

void hide(Interface& entry) {
  const Held held(lock);
  for (std::size_t at = detail::home_of(entry.handle);; at = after(at)) {
    InterfacePlace& place = interface_places[at];
    const uct_iface_h key = place.key.load(std::memory_order_relaxed);
    if (key == nullptr) return;
    if (key != entry.handle) continue;
    if (place.value.load(std::memory_order_relaxed) != &entry) return;
    place.value.store(nullptr, std::memory_order_release);
    drop_keys(at);
    return;
  }
}

void give_back(Interface& entry) {
  const Held held(lock);
  free_entry(entry);
}

}  // namespace uctrace::uct
