#include "mpi-attribution/children.hpp"

#include <cstddef>
#include <cstdlib>

#include "interpose/fork_lock.hpp"

namespace uctrace::mpi {
namespace {

struct Parent {
  Parent* next;
  Handle handle;
  std::uint32_t made[2];  // by CalledBy
};

constexpr std::size_t kBuckets = 256;
constinit Parent* buckets[kBuckets]{};
constinit interpose::ForkLock counting;

// The link that holds the parent, or the empty one at the end of its bucket.
Parent** find(Handle handle) {
  const Handle mixed = handle * 0x9e3779b97f4a7c15u;  // handles are aligned or counted up
  Parent** link = &buckets[mixed >> 56];
  while (*link != nullptr && (*link)->handle != handle) link = &(*link)->next;
  return link;
}

}  // namespace

std::uint32_t next_ordinal(Handle parent, CalledBy called_by) {
  const interpose::Held held(counting);
  Parent*& entry = *find(parent);
  if (entry == nullptr) {
    entry = static_cast<Parent*>(std::calloc(1, sizeof(Parent)));
    if (entry != nullptr) entry->handle = parent;
  }
  return entry != nullptr ? ++entry->made[static_cast<std::size_t>(called_by)] : 0;
}

void forget_children(Handle handle) {
  const interpose::Held held(counting);
  Parent*& link = *find(handle);
  if (Parent* entry = link) {
    link = entry->next;
    std::free(entry);
  }
}

}  // namespace uctrace::mpi
