// Interfaces and endpoints of the scripted transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "inbox.hpp"
#include "internals.hpp"
#include "oracle.hpp"
#include "script.hpp"

namespace scripted {

// The transports differ in how their endpoints are connected and in what they offer.
struct Flavour {
  const char* name;
  bool to_endpoint = false;  // connect_to_ep with endpoint addresses; else connect_to_iface
  bool tags = false;         // tag matching is offloaded to the interface
  bool copies = false;       // between host and device memory, nothing else
};

struct DeviceAddress {
  std::uint64_t host;  // a process id space: where a pid names the same process
  std::uint64_t device;
};

struct EndpointAddress {
  InboxAddress inbox;
  std::uint64_t serial;
};

struct Endpoint;

// An operation whose end is still to come.
struct Late {
  std::uint64_t serial;  // in order of posting
  Endpoint* endpoint;    // nullptr: of the interface, or the endpoint is gone
  std::uint64_t due;     // not before this many progress calls of the interface
  bool after_others;     // a flush: not before those posted earlier on the endpoint
  Verdict verdict;
  std::function<ucs_status_t()> move;  // what is only done at the end or at a fence; may be empty
  uct_completion_t* completion;        // may be nullptr
  std::size_t row;                     // of the oracle
};

struct PostedReceive {
  uct_tag_t tag, mask;
  void* buffer;
  std::size_t bytes;
  uct_tag_context_t* context;
  std::size_t row;  // of the oracle
};

// A rendezvous whose data the receiver has not fetched yet.
struct OpenRendezvous {
  std::uint64_t serial;
  Endpoint* endpoint;
  Verdict verdict;
  uct_completion_t* completion;
  std::size_t row;
};

struct Interface : uct_base_iface {
  const Flavour* flavour;
  std::string transport, device;
  DeviceAddress device_address;
  std::unique_ptr<Inbox> inbox;
  std::uint64_t progressed = 0, posted = 0;
  const Endpoint* dispatching = nullptr;  // a request of its queue is being called
  std::deque<Late> late;
  std::list<Endpoint*> endpoints;
  std::deque<PostedReceive> receives;
  std::deque<OpenRendezvous> rendezvous;
  uct_worker_cb_id_t progress_id;
  unsigned progress_flags = 0;
  uct_recv_desc_t release;
  std::size_t headroom = 0;
  uct_error_handler_t on_error = nullptr;
  void* on_error_argument = nullptr;
  uct_tag_unexp_eager_cb_t on_eager = nullptr;
  void* on_eager_argument = nullptr;
  uct_tag_unexp_rndv_cb_t on_rendezvous = nullptr;
  void* on_rendezvous_argument = nullptr;

  unsigned progress();
  oracle::Row row(const char* what) const {
    return {.what = what, .transport = transport.c_str(), .device = device.c_str()};
  }
  // A flush: the end of everything before it, of `endpoint` or, with nullptr, of the interface.
  ucs_status_t flush(Operation operation, Endpoint* endpoint, bool cancel,
                     uct_completion_t* completion);
  bool outstanding(const Endpoint* endpoint) const;  // nullptr: any
  void cancel(const Endpoint* endpoint, ucs_status_t status);
  // Moves the data of what is late: it is with the peer before anything that is posted from now on.
  void fence(const Endpoint* endpoint);

 private:
  unsigned receive();
  unsigned complete();
  unsigned dispatch();
  void finish(Late& late);
};

struct Endpoint : uct_ep_t {
  std::uint64_t serial;
  InboxAddress peer{};
  std::uint64_t peer_serial = 0;                     // of its endpoint, if connected to one
  std::unique_ptr<Inbox> inbox;                      // of the peer; nullptr: not connected
  std::uint64_t usable_from = 0, blocked_until = 0;  // in progress calls of the interface
  ucs_status_t failure = UCS_OK;
  std::deque<uct_pending_req_t*> pending;

  Interface& interface() const {
    return *static_cast<Interface*>(reinterpret_cast<uct_base_iface*>(iface));
  }
  ucs_status_t connect(const InboxAddress& address);
  // The script's verdict on the next call, or what stands in its way: UCS_ERR_NO_RESOURCE until
  // some progress was made.
  Verdict admit(Operation operation);
  void fail(ucs_status_t status);
};

inline Interface& interface_of(uct_iface_h iface) {
  return *static_cast<Interface*>(reinterpret_cast<uct_base_iface*>(iface));
}
inline Endpoint& endpoint_of(uct_ep_h ep) { return *static_cast<Endpoint*>(ep); }

// What is known of an operation when it is called.
struct Call {
  Operation operation;
  std::uint64_t bytes = 0, remote = 0;
  uct_rkey_t key = UCT_INVALID_RKEY;  // of what touches the peer's memory
  int id = -1;
  uct_completion_t* completion = nullptr;
  bool may_be_late = false;
  // It leaves when it is posted, and only its completion may be late; else both are.
  bool leaves_at_once = false;
};

// Runs a call as the script wants it. `move` does what the operation is for; it takes the bytes as
// a parameter because a bcopy knows them only then.
ucs_status_t post(Endpoint& endpoint, Call& call,
                  std::function<ucs_status_t(std::uint64_t& bytes)> move);

// Whether a message can be left with the peer; else the endpoint is blocked until some progress.
bool peer_has_room(Endpoint& endpoint);

// --- memory.cpp ----------------------------------------------------------------------------------

// Copies between this process and the peer's, which does nothing for it, as with a NIC.
ucs_status_t write_peer(const Endpoint& endpoint, const void* from, std::uint64_t remote,
                        std::size_t bytes);
ucs_status_t read_peer(const InboxAddress& peer, void* to, std::uint64_t remote, std::size_t bytes);
// Whether the key was made for this memory of the peer.
bool key_allows(uct_rkey_t key, const InboxAddress& peer, std::uint64_t remote, std::size_t bytes);
void pack_key(uct_mem_h memory, unsigned char packed[kPackedKeyBytes]);

// --- the other files -----------------------------------------------------------------------------

void fill_data_operations(uct_iface_ops_t& ops);      // operations.cpp
void fill_tag_operations(uct_iface_ops_t& ops);       // tags.cpp
void fill_endpoint_operations(uct_iface_ops_t& ops);  // endpoint.cpp
// Whether it is connected to the interface or, where `endpoint` is given, to that endpoint.
bool is_connected(uct_ep_h ep, const uct_iface_addr_t* interface, const uct_ep_addr_t* endpoint);
void receive_tagged(Interface& interface, Message& message);
void deliver_active_message(Interface& interface, Message& message);
// Calls the receiver with the data in a buffer that it may keep, by UCS_INPROGRESS, and release
// when it likes. What lies before the data is its headroom, and before that UCX finds how to
// release it.
ucs_status_t hand_over(Interface& interface, const Message& message,
                       const std::function<ucs_status_t(void* data)>& receiver);
ucs_status_t open_interface(uct_md_h md, uct_worker_h worker, const uct_iface_params_t* params,
                            const Flavour& flavour, uct_iface_h* iface);

}  // namespace scripted
