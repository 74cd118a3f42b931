#include "ucp-shim/counted_peers.hpp"

#include <atomic>

#include "event-log/recorder/address_map.hpp"

namespace uctrace::ucp {

namespace {

// Number of a peer, and the log that it belongs to: a fork child has a log of its own.
struct Numbered {
  std::uint32_t log, number;
};
constexpr std::size_t kMostPeers = std::size_t{1} << 19;
constinit log::AddressMap<Numbered, kMostPeers> endpoints;
constinit log::AddressMap<Numbered, kMostPeers> workers;  // by uid
constinit std::atomic<std::uint32_t> peers{0};

std::uint32_t name_new_peer(std::uint64_t uid) {
  const std::uint32_t number = peers.fetch_add(1, std::memory_order_relaxed);
  log::name_counter(log::CounterNameKind::peer, number, uid, nullptr, 0);
  return number;
}

// A worker without a uid gets a number for each endpoint. Two threads that meet a worker at once
// may give it two numbers, which mean the same.
std::uint32_t number_of_worker(std::uint64_t uid) {
  constexpr std::uint64_t kFreed = 1;  // of AddressMap
  auto* entry = uid > kFreed ? workers.claim(reinterpret_cast<const void*>(uid)) : nullptr;
  if (entry == nullptr) return name_new_peer(uid);
  const std::uint32_t log = log::log_number();
  if (entry->value.log != log) entry->value = {log, name_new_peer(uid)};
  return entry->value.number;
}

}  // namespace

void name_peer(ucp_ep_h endpoint, std::uint64_t remote_uid) {
  if (auto* entry = endpoints.claim(endpoint)) {
    entry->value = {log::log_number(), number_of_worker(remote_uid)};
  }
}

std::uint64_t peer_of(ucp_ep_h endpoint) {
  const auto* entry = endpoints.find(endpoint);
  return entry != nullptr && entry->value.log == log::log_number()
             ? log::kNamedPeer | entry->value.number
             : log::kUnknownPeer;
}

std::uint64_t peer_at(const void* endpoint) {
  return peer_of(static_cast<ucp_ep_h>(const_cast<void*>(endpoint)));
}

}  // namespace uctrace::ucp
