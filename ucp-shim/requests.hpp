// A UCP operation between its call and its end.
//
// Every tag call goes down with our own callback and user data, so that its end is seen; the
// caller's are kept in a slot and called with what they expect.
//
// Protocol of TrackedRequest::state, which the posting call and the callback may reach at the same
// time on different threads:   in_call -> returned (by the call)  or  in_call -> fired (by the
// callback). Whoever comes second gives the slot back.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>

#include "event-log/recorder.hpp"

namespace uctrace::ucp {

enum class RequestState : std::uint8_t { in_call, returned, fired };

struct TrackedRequest {
  union {
    ucp_send_nbx_callback_t send;
    ucp_tag_recv_nbx_callback_t receive;
  } callback;  // the caller's; nullptr if it has none
  void* user_data;
  log::Id operation;
  ucp_tag_recv_info_t received;  // receives that ended inside their call
  ucs_status_t status;
  RequestState state;  // accessed with __atomic builtins
  bool hide_in_call;   // an end inside the call is not told to the caller's callback
};

// What the caller's parameters say, read as their mask allows.
struct Parameters {
  ucp_request_param_t own;  // a copy to hand down
  bool known;               // false: a field that this build does not know; hand the caller's down
};
void copy_parameters(const ucp_request_param_t* param, Parameters& to);

// Bytes of a buffer of `count` elements. `*known` is false for generic datatypes.
std::uint64_t buffer_bytes(const ucp_request_param_t& param, const void* buffer, std::size_t count,
                           bool* known);

// One UCP call being recorded. Inactive (and everything a no-op) while recording is off.
class Call {
 public:
  Call(log::UcpFunction function, const ucp_request_param_t* param);

  bool active() const { return lane_ != nullptr; }
  log::Id id() const { return id_; }
  Parameters& parameters() { return parameters_; }
  // nullptr: no slot was ready, or unknown parameters; the operation passes through untracked.
  TrackedRequest* tracked() { return tracked_; }

  struct Operation {
    std::uint64_t handle;
    const void* buffer;
    std::uint64_t bytes;
    bool bytes_known;
    std::uint64_t tag, tag_mask;
    std::uint64_t posted_tick;  // 0 = at the call
  };
  // Whether the operation ended inside its call by way of the callback, and how.
  struct End {
    bool in_call;
    ucs_status_t status;
    ucp_tag_recv_info_t received;
  };
  // Records the operation; gives the slot back if the operation ended already.
  End finish(ucs_status_ptr_t result, const Operation& operation);

 private:
  void record(ucs_status_t status, const Operation& operation, std::uint64_t end);

  log::Lane* lane_;
  log::UcpFunction function_;
  log::Id id_ = 0;
  std::uint64_t start_ = 0;
  Parameters parameters_;
  TrackedRequest* tracked_ = nullptr;
};

// Our callbacks; `user_data` is the TrackedRequest.
void on_send_end(void* request, ucs_status_t status, void* user_data);
void on_receive_end(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                    void* user_data);

// True once this process's UCP layer is recording.
bool layer_on();
void switch_layer_on();

}  // namespace uctrace::ucp
