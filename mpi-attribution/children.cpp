#include "mpi-attribution/children.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdlib>

namespace uctrace::mpi {
namespace {

struct Parent {
  Parent* next;
  Handle handle;
  std::uint32_t made[2];  // by CalledBy
};

constexpr std::size_t kBuckets = 256;
constinit Parent* buckets[kBuckets]{};
constinit pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

// The link that holds the parent, or the empty one at the end of its bucket.
Parent** find(Handle handle) {
  const Handle mixed = handle * 0x9e3779b97f4a7c15u;  // handles are aligned or counted up
  Parent** link = &buckets[mixed >> 56];
  while (*link != nullptr && (*link)->handle != handle) link = &(*link)->next;
  return link;
}

}  // namespace

std::uint32_t next_ordinal(Handle parent, CalledBy called_by) {
  pthread_mutex_lock(&counting);
  Parent*& entry = *find(parent);
  if (entry == nullptr) {
    entry = static_cast<Parent*>(std::calloc(1, sizeof(Parent)));
    if (entry != nullptr) entry->handle = parent;
  }
  const std::uint32_t ordinal =
      entry != nullptr ? ++entry->made[static_cast<std::size_t>(called_by)] : 0;
  pthread_mutex_unlock(&counting);
  return ordinal;
}

void forget_children(Handle handle) {
  pthread_mutex_lock(&counting);
  Parent*& link = *find(handle);
  if (Parent* entry = link) {
    link = entry->next;
    std::free(entry);
  }
  pthread_mutex_unlock(&counting);
}

}  // namespace uctrace::mpi
