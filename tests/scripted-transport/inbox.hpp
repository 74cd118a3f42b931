// Where the messages of an interface arrive: a ring of slots in anonymous shared memory, into which
// other interfaces write, of this process or another one. It is opened through /proc by process and
// file descriptor, so there is no name that could outlive the processes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace scripted {

// Also the address of the interface that it belongs to.
struct InboxAddress {
  std::int32_t pid;
  std::int32_t descriptor;
  std::uint64_t serial;  // distinguishes interfaces that get the same descriptor one after the
                         // other
  bool operator==(const InboxAddress&) const = default;
};

enum class Kind : std::uint32_t {
  active_message,
  tag_eager,
  tag_rendezvous,          // with an address: the receiver fetches the data and sends `fetched`
  tag_rendezvous_request,  // a header only: the program's own protocol moves the data
  fetched,
};

inline constexpr std::size_t kPackedKeyBytes = 32;

struct Head {
  Kind kind;
  std::uint8_t am_id = 0;
  bool in_descriptor = false;  // handed over in a buffer that the receiver may keep
  std::uint32_t bytes = 0;     // of what follows
  std::uint64_t tag = 0, immediate = 0;
  std::uint64_t address = 0, length = 0, operation = 0;  // of a rendezvous
  InboxAddress sender{};
  unsigned char key[kPackedKeyBytes] = {};
};

struct Message {
  Head head;
  std::vector<unsigned char> data;
};

inline constexpr std::size_t kSlotBytes = 16384;  // the longest message

class Inbox {
 public:
  static std::unique_ptr<Inbox> make();
  static std::unique_ptr<Inbox> of_peer(const InboxAddress& address);  // nullptr: it is gone
  ~Inbox();

  const InboxAddress& address() const { return address_; }
  // Leaves room for senders that checked at the same time.
  bool has_room() const;
  void push(const Head& head, const void* data);  // waits in the rare case that there is no room
  std::optional<Message> pop();

  // Runs `change` with exclusive access to memory through this inbox's interface.
  template <typename Change>
  void exclusively(Change&& change) {
    lock();
    change();
    unlock();
  }

 private:
  struct Shared;
  Inbox(Shared* shared, int descriptor, InboxAddress address);
  void lock() const;
  void unlock() const;

  Shared* shared_;
  int descriptor_;
  InboxAddress address_;
};

}  // namespace scripted
