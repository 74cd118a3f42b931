#include "ucp-shim/worker_uid.hpp"

#include <string.h>

#include "interpose/original.hpp"
#include "uct-shim/version_check.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;

constinit Original<decltype(&::ucp_worker_get_address)> get_address{"ucp_worker_get_address"};
constinit Original<decltype(&::ucp_worker_release_address)> release_address{
    "ucp_worker_release_address"};
constinit Original<decltype(&::ucp_worker_address_query)> address_query{"ucp_worker_address_query"};

// For a UCP that has no function to query it.
std::uint64_t uid_in(const ucp_address_t* address, const void* caller) {
  const ucx::Release* const release = uct::ucx_release(caller);
  std::uint64_t uid = 0;
  if (release != nullptr && release->worker_uid != 0) {
    memcpy(&uid, reinterpret_cast<const char*>(address) + release->worker_uid, sizeof uid);
  }
  return uid;
}

}  // namespace

std::uint64_t uid_of(const ucp_address_t* address, const void* caller) {
  auto* query = address_query.get(caller);
  if (query == nullptr) {
    return uid_in(address, caller);
  }
  ucp_worker_address_attr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID;
  const bool ok = query(const_cast<ucp_address_t*>(address), &attributes) == UCS_OK;
  return ok ? attributes.worker_uid : 0;
}

std::uint64_t uid_of(ucp_worker_h worker, const void* caller) {
  auto* get = get_address.get(caller);
  auto* release = release_address.get(caller);
  ucp_address_t* address;
  std::size_t length;
  if (get == nullptr || release == nullptr || get(worker, &address, &length) != UCS_OK) {
    return 0;
  }
  const std::uint64_t uid = uid_of(address, caller);
  release(worker, address);
  return uid;
}

}  // namespace uctrace::ucp
