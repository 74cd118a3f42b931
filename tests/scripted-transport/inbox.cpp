#include "inbox.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>

namespace scripted {

namespace {
constexpr std::uint64_t kSlots = 64, kSlack = 16;
}

// Zeros make it empty. `lock` is robust: a process that dies while holding it blocks no other.
struct Inbox::Shared {
  pthread_mutex_t lock;
  std::uint64_t serial, written, read;
  struct Slot {
    Head head;
    unsigned char data[kSlotBytes];
  } slots[kSlots];
};

Inbox::Inbox(Shared* shared, int descriptor, InboxAddress address)
    : shared_(shared), descriptor_(descriptor), address_(address) {}

Inbox::~Inbox() {
  munmap(shared_, sizeof(Shared));
  if (descriptor_ >= 0) close(descriptor_);
}

std::unique_ptr<Inbox> Inbox::make() {
  static std::atomic<std::uint64_t> serials{0};
  const int descriptor = memfd_create("scripted transport", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, sizeof(Shared)) != 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* shared = static_cast<Shared*>(memory);
  shared->serial = serials.fetch_add(1) + 1;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&shared->lock, &attributes);
  return std::unique_ptr<Inbox>(
      new Inbox(shared, descriptor, {getpid(), descriptor, shared->serial}));
}

std::unique_ptr<Inbox> Inbox::of_peer(const InboxAddress& address) {
  const std::string path =
      "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  const off_t bytes = lseek(descriptor, 0, SEEK_END);  // it may be another file by now
  void* memory = bytes != sizeof(Shared) ? MAP_FAILED
                                         : mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                                MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) return nullptr;
  auto* shared = static_cast<Shared*>(memory);
  if (shared->serial != address.serial) {
    munmap(memory, sizeof(Shared));
    return nullptr;
  }
  return std::unique_ptr<Inbox>(new Inbox(shared, -1, address));
}

void Inbox::lock() const {
  if (pthread_mutex_lock(&shared_->lock) == EOWNERDEAD) pthread_mutex_consistent(&shared_->lock);
}

void Inbox::unlock() const { pthread_mutex_unlock(&shared_->lock); }

bool Inbox::has_room() const {
  lock();
  const bool room = shared_->written - shared_->read < kSlots - kSlack;
  unlock();
  return room;
}

void Inbox::push(const Head& head, const void* data) {
  lock();
  while (shared_->written - shared_->read == kSlots) {
    unlock();
    sched_yield();
    lock();
  }
  auto& slot = shared_->slots[shared_->written % kSlots];
  slot.head = head;
  if (head.bytes > 0) std::memcpy(slot.data, data, head.bytes);
  ++shared_->written;
  unlock();
}

std::optional<Message> Inbox::pop() {
  std::optional<Message> message;
  lock();
  if (shared_->read != shared_->written) {
    const auto& slot = shared_->slots[shared_->read % kSlots];
    message.emplace(slot.head, std::vector(slot.data, slot.data + slot.head.bytes));
    ++shared_->read;
  }
  unlock();
  return message;
}

}  // namespace scripted
