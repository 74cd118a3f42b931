// Put, get, active messages and atomic operations. The initiator moves the data of put, get and
// atomics itself, when the operation ends; the target's process takes no part.
#include <cstring>
#include <vector>

#include "transport.hpp"

namespace scripted {

namespace {

std::uint64_t total_bytes(const uct_iov_t* iov, std::size_t count) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += iov[i].length * iov[i].count;
  return bytes;
}

// What a bcopy returns.
ssize_t length_or_error(ucs_status_t status, const Call& call) {
  if (status != UCS_OK) return status;
  return static_cast<ssize_t>(call.bytes);
}

// --- put and get ---------------------------------------------------------------------------------

ucs_status_t put_short(uct_ep_h ep, const void* buffer, unsigned length, std::uint64_t remote,
                       uct_rkey_t key) {
  Call call{.operation = Operation::put_short, .bytes = length, .remote = remote, .key = key};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call,
              [&](std::uint64_t&) { return write_peer(endpoint, buffer, remote, length); });
}

ssize_t put_bcopy(uct_ep_h ep, uct_pack_callback_t pack, void* argument, std::uint64_t remote,
                  uct_rkey_t key) {
  Call call{.operation = Operation::put_bcopy, .remote = remote, .key = key};
  Endpoint& endpoint = endpoint_of(ep);
  const ucs_status_t status = post(endpoint, call, [&](std::uint64_t& bytes) {
    std::vector<unsigned char> packed(kSlotBytes);
    bytes = pack(packed.data(), argument);
    return write_peer(endpoint, packed.data(), remote, bytes);
  });
  return length_or_error(status, call);
}

// The parts of a zcopy, one after the other in the peer's memory. `iov` is copied: the caller may
// forget it before the operation ends.
template <typename Copy>
ucs_status_t zcopy(Endpoint& endpoint, Operation operation, const uct_iov_t* iov, std::size_t count,
                   std::uint64_t remote, uct_rkey_t key, uct_completion_t* completion, Copy copy) {
  Call call{.operation = operation,
            .bytes = total_bytes(iov, count),
            .remote = remote,
            .key = key,
            .completion = completion,
            .may_be_late = true};
  const std::vector<uct_iov_t> parts(iov, iov + count);
  return post(endpoint, call, [&endpoint, parts, remote, copy](std::uint64_t&) {
    std::uint64_t at = remote;
    for (const uct_iov_t& part : parts) {
      const ucs_status_t status = copy(endpoint, part.buffer, at, part.length * part.count);
      if (status != UCS_OK) return status;
      at += part.length * part.count;
    }
    return UCS_OK;
  });
}

ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t* iov, std::size_t count, std::uint64_t remote,
                       uct_rkey_t key, uct_completion_t* completion) {
  return zcopy(endpoint_of(ep), Operation::put_zcopy, iov, count, remote, key, completion,
               [](const Endpoint& endpoint, void* local, std::uint64_t at, std::size_t bytes) {
                 return write_peer(endpoint, local, at, bytes);
               });
}

ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t* iov, std::size_t count, std::uint64_t remote,
                       uct_rkey_t key, uct_completion_t* completion) {
  return zcopy(endpoint_of(ep), Operation::get_zcopy, iov, count, remote, key, completion,
               [](const Endpoint& endpoint, void* local, std::uint64_t at, std::size_t bytes) {
                 return read_peer(endpoint.peer, local, at, bytes);
               });
}

ucs_status_t get_short(uct_ep_h ep, void* buffer, unsigned length, std::uint64_t remote,
                       uct_rkey_t key) {
  Call call{.operation = Operation::get_short, .bytes = length, .remote = remote, .key = key};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call,
              [&](std::uint64_t&) { return read_peer(endpoint.peer, buffer, remote, length); });
}

ucs_status_t get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack, void* argument,
                       std::size_t length, std::uint64_t remote, uct_rkey_t key,
                       uct_completion_t* completion) {
  Call call{.operation = Operation::get_bcopy,
            .bytes = length,
            .remote = remote,
            .key = key,
            .completion = completion,
            .may_be_late = true};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call, [&endpoint, unpack, argument, remote, length](std::uint64_t&) {
    std::vector<unsigned char> fetched(length);
    const ucs_status_t status = read_peer(endpoint.peer, fetched.data(), remote, length);
    if (status == UCS_OK) unpack(argument, fetched.data(), length);
    return status;
  });
}

// --- active messages -----------------------------------------------------------------------------

ucs_status_t send_message(Endpoint& endpoint, std::uint8_t id, bool in_descriptor,
                          const std::vector<unsigned char>& data) {
  endpoint.inbox->push({.kind = Kind::active_message,
                        .am_id = id,
                        .in_descriptor = in_descriptor,
                        .bytes = static_cast<std::uint32_t>(data.size())},
                       data.data());
  return UCS_OK;
}

void append(std::vector<unsigned char>& data, const void* from, std::size_t bytes) {
  const auto* first = static_cast<const unsigned char*>(from);
  data.insert(data.end(), first, first + bytes);
}

void append(std::vector<unsigned char>& data, const uct_iov_t* iov, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    append(data, iov[i].buffer, iov[i].length * iov[i].count);
  }
}

ucs_status_t am_short(uct_ep_h ep, std::uint8_t id, std::uint64_t header, const void* payload,
                      unsigned length) {
  Call call{.operation = Operation::am_short, .bytes = sizeof header + length, .id = id};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call, [&](std::uint64_t&) {
    if (!peer_has_room(endpoint)) return UCS_ERR_NO_RESOURCE;
    std::vector<unsigned char> data;
    append(data, &header, sizeof header);
    append(data, payload, length);
    return send_message(endpoint, id, false, data);
  });
}

ucs_status_t am_short_iov(uct_ep_h ep, std::uint8_t id, const uct_iov_t* iov, std::size_t count) {
  Call call{.operation = Operation::am_short_iov, .bytes = total_bytes(iov, count), .id = id};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call, [&](std::uint64_t&) {
    if (!peer_has_room(endpoint)) return UCS_ERR_NO_RESOURCE;
    std::vector<unsigned char> data;
    append(data, iov, count);
    return send_message(endpoint, id, false, data);
  });
}

ssize_t am_bcopy(uct_ep_h ep, std::uint8_t id, uct_pack_callback_t pack, void* argument, unsigned) {
  Call call{.operation = Operation::am_bcopy, .id = id};
  Endpoint& endpoint = endpoint_of(ep);
  const ucs_status_t status = post(endpoint, call, [&](std::uint64_t& bytes) {
    if (!peer_has_room(endpoint)) return UCS_ERR_NO_RESOURCE;
    std::vector<unsigned char> data(kSlotBytes);
    bytes = pack(data.data(), argument);
    data.resize(bytes);
    return send_message(endpoint, id, true, data);
  });
  return length_or_error(status, call);
}

ucs_status_t am_zcopy(uct_ep_h ep, std::uint8_t id, const void* header, unsigned header_length,
                      const uct_iov_t* iov, std::size_t count, unsigned,
                      uct_completion_t* completion) {
  Call call{.operation = Operation::am_zcopy,
            .bytes = header_length + total_bytes(iov, count),
            .id = id,
            .completion = completion,
            .may_be_late = true,
            .leaves_at_once = true};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call, [&](std::uint64_t&) {
    if (!peer_has_room(endpoint)) return UCS_ERR_NO_RESOURCE;
    std::vector<unsigned char> data;
    append(data, header, header_length);
    append(data, iov, count);
    return send_message(endpoint, id, true, data);
  });
}

// --- atomic operations ---------------------------------------------------------------------------

template <typename Word>
Word apply(unsigned opcode, Word old, Word value, Word compare) {
  switch (opcode) {
    case UCT_ATOMIC_OP_ADD:
      return old + value;
    case UCT_ATOMIC_OP_AND:
      return old & value;
    case UCT_ATOMIC_OP_OR:
      return old | value;
    case UCT_ATOMIC_OP_XOR:
      return old ^ value;
    case UCT_ATOMIC_OP_SWAP:
      return value;
    default:
      return old == compare ? value : old;
  }
}

template <typename Word>
struct Atomic {
  unsigned opcode;
  Word value, compare;
  std::uint64_t remote;
  uct_rkey_t key;
  Word* result;  // nullptr: a post
};

// Atomic among the operations through one interface of the target, as with a NIC.
template <typename Word>
ucs_status_t run(Endpoint& endpoint, const Atomic<Word>& atomic) {
  ucs_status_t status = UCS_OK;
  endpoint.inbox->exclusively([&] {
    Word old{};
    status = read_peer(endpoint.peer, &old, atomic.remote, sizeof old);
    if (status != UCS_OK) return;
    const Word changed = apply(atomic.opcode, old, atomic.value, atomic.compare);
    status = write_peer(endpoint, &changed, atomic.remote, sizeof changed);
    if (atomic.result != nullptr) *atomic.result = old;
  });
  return status;
}

template <typename Word>
ucs_status_t post_atomic(uct_ep_h ep, Operation operation, const Atomic<Word>& atomic,
                         uct_completion_t* completion) {
  Endpoint& endpoint = endpoint_of(ep);
  Call call{.operation = operation,
            .bytes = sizeof(Word),
            .remote = atomic.remote,
            .key = atomic.key,
            .completion = completion,
            .may_be_late = atomic.result != nullptr};
  return post(endpoint, call,
              [&endpoint, atomic](std::uint64_t&) { return run(endpoint, atomic); });
}

template <typename Word, Operation kOperation>
ucs_status_t cswap(uct_ep_h ep, Word compare, Word swap, std::uint64_t remote, uct_rkey_t key,
                   Word* result, uct_completion_t* completion) {
  return post_atomic<Word>(ep, kOperation,
                           {UCT_ATOMIC_OP_CSWAP, swap, compare, remote, key, result}, completion);
}

template <typename Word, Operation kOperation>
ucs_status_t atomic_post(uct_ep_h ep, unsigned opcode, Word value, std::uint64_t remote,
                         uct_rkey_t key) {
  return post_atomic<Word>(ep, kOperation, {opcode, value, 0, remote, key, nullptr}, nullptr);
}

template <typename Word, Operation kOperation>
ucs_status_t atomic_fetch(uct_ep_h ep, unsigned opcode, Word value, Word* result,
                          std::uint64_t remote, uct_rkey_t key, uct_completion_t* completion) {
  return post_atomic<Word>(ep, kOperation, {opcode, value, 0, remote, key, result}, completion);
}

}  // namespace

void fill_data_operations(uct_iface_ops_t& ops) {
  ops.ep_put_short = put_short;
  ops.ep_put_bcopy = put_bcopy;
  ops.ep_put_zcopy = put_zcopy;
  ops.ep_get_short = get_short;
  ops.ep_get_bcopy = get_bcopy;
  ops.ep_get_zcopy = get_zcopy;
  ops.ep_am_short = am_short;
  ops.ep_am_short_iov = am_short_iov;
  ops.ep_am_bcopy = am_bcopy;
  ops.ep_am_zcopy = am_zcopy;
  ops.ep_atomic_cswap32 = cswap<std::uint32_t, Operation::cswap32>;
  ops.ep_atomic_cswap64 = cswap<std::uint64_t, Operation::cswap64>;
  ops.ep_atomic32_post = atomic_post<std::uint32_t, Operation::atomic32_post>;
  ops.ep_atomic64_post = atomic_post<std::uint64_t, Operation::atomic64_post>;
  ops.ep_atomic32_fetch = atomic_fetch<std::uint32_t, Operation::atomic32_fetch>;
  ops.ep_atomic64_fetch = atomic_fetch<std::uint64_t, Operation::atomic64_fetch>;
}

}  // namespace scripted
