#include "uct-shim/connections.hpp"

#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>

#include <atomic>
#include <utility>

#include "event-log/recorder/recorder.hpp"
#include "interpose/original.hpp"

namespace uctrace::uct {

namespace {

using log::ConnectionSide;

// uct_ep_query and its attributes (UCX 1.13) are in no installed header; up to 1.23 fields were
// only appended.
struct EndpointAttributes {
  static constexpr std::uint64_t kLocal = 1, kRemote = 2;
  std::uint64_t field_mask;
  sockaddr_storage local, remote;
};
using QueryEndpoint = ucs_status_t (*)(uct_ep_h, EndpointAttributes*);
constinit interpose::Original<QueryEndpoint> query_endpoint{"uct_ep_query"};

// Parameters with a field that this build does not know cannot be copied: there may be more behind.
constexpr std::uint64_t kKnownFields = (UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR << 1) - 1;

log::SocketAddress recorded(const sockaddr_storage& from) {
  log::SocketAddress to{};
  if (from.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(from);
    to.version = 4;
    to.port = ntohs(in.sin_port);
    memcpy(to.address, &in.sin_addr, sizeof in.sin_addr);
  } else if (from.ss_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(from);
    to.version = 6;
    to.port = ntohs(in6.sin6_port);
    memcpy(to.address, &in6.sin6_addr, sizeof in6.sin6_addr);
  }
  return to;
}

// The thread's: threads of one process may be in different ones.
std::uint64_t network_namespace() {
  struct stat found {};
  return stat("/proc/thread-self/ns/net", &found) == 0 ? found.st_ino : 0;
}

// `user_data` is the UCP endpoint: all tested versions of UCP set it so for endpoints of connection
// managers. If the program uses UCT itself, it is not a UCP endpoint.
void record_connection(ConnectionSide side, uct_ep_h endpoint, void* user_data,
                       const void* callback) {
  log::Lane* lane =
      log::layer_state(log::Layer::ucp) == log::LayerState::on ? log::lane() : nullptr;
  auto* query = lane != nullptr ? query_endpoint.get(callback) : nullptr;
  if (query == nullptr) {
    return;
  }
  EndpointAttributes attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.field_mask = EndpointAttributes::kLocal | EndpointAttributes::kRemote;
  if (query(endpoint, &attributes) != UCS_OK) {
    return;
  }
  if (auto* record = lane->define<log::UcpConnection>()) {
    record->tick = log::now();
    record->handle = reinterpret_cast<std::uint64_t>(user_data);
    record->network_namespace = network_namespace();
    record->local = recorded(attributes.local);
    record->remote = recorded(attributes.remote);
    log::publish(record, log::RecordType::ucp_connection, sizeof *record / 8,
                 static_cast<std::uint16_t>(side), 0);
  }
}

// One side's callback, its arguments, and how these say that it is connected.
struct Client {
  using Callback = uct_cm_ep_client_connect_callback_t;
  using Arguments = uct_cm_ep_client_connect_args_t;
  static constexpr ConnectionSide kSide = ConnectionSide::client;
  static constexpr std::uint64_t kStatus = UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS;
};
struct Server {
  using Callback = uct_cm_ep_server_conn_notify_callback_t;
  using Arguments = uct_cm_ep_server_conn_notify_args_t;
  static constexpr ConnectionSide kSide = ConnectionSide::server;
  static constexpr std::uint64_t kStatus = UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS;
};

// The callers' callbacks. Each copy of UCX has one for all its endpoints, so one function of ours
// for each is enough, and endpoints need no memory.
constexpr std::size_t kCallbacks = 8;

template <typename Side>
constinit std::atomic<typename Side::Callback> callbacks[kCallbacks]{};

template <typename Side, std::size_t kPlace>
void on_connection(uct_ep_h endpoint, void* user_data, const typename Side::Arguments* arguments) {
  const auto callback = callbacks<Side>[kPlace].load(std::memory_order_acquire);
  const bool has_status = (arguments->field_mask & Side::kStatus) != 0;
  if (has_status && arguments->status == UCS_OK) {
    record_connection(Side::kSide, endpoint, user_data, reinterpret_cast<const void*>(callback));
  }
  callback(endpoint, user_data, arguments);
}

template <typename Side, std::size_t... kPlaces>
typename Side::Callback our_callback(std::size_t place, std::index_sequence<kPlaces...>) {
  constexpr typename Side::Callback kOurs[] = {on_connection<Side, kPlaces>...};
  return kOurs[place];
}

// Our function that wraps `callback`; `callback` itself if all are taken.
template <typename Side>
typename Side::Callback in_front_of(typename Side::Callback callback) {
  for (std::size_t i = 0; i < kCallbacks; ++i) {
    typename Side::Callback known = nullptr;
    if (callbacks<Side>[i].compare_exchange_strong(known, callback) || known == callback) {
      return our_callback<Side>(i, std::make_index_sequence<kCallbacks>{});
    }
  }
  return callback;
}

}  // namespace

ConnectionParameters::ConnectionParameters(const uct_ep_params_t* callers, const void* caller)
    : callers_(callers) {
  const std::uint64_t mask = callers->field_mask;
  const bool is_client = (mask & UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT) != 0;
  const bool is_server = (mask & UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER) != 0;
  constexpr std::uint64_t kNeeded = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_USER_DATA;
  if ((mask & kNeeded) != kNeeded || (mask & ~kKnownFields) != 0 || is_client == is_server ||
      log::lane() == nullptr || query_endpoint.get(caller) == nullptr) {
    return;
  }
  // A UCX that has uct_ep_query has all these fields.
  memcpy(&own_, callers, sizeof own_);
  if (is_client && own_.sockaddr_cb_client != nullptr) {
    own_.sockaddr_cb_client = in_front_of<Client>(own_.sockaddr_cb_client);
    wrapped_ = true;
  } else if (is_server && own_.sockaddr_cb_server != nullptr) {
    own_.sockaddr_cb_server = in_front_of<Server>(own_.sockaddr_cb_server);
    wrapped_ = true;
  }
}

}  // namespace uctrace::uct
