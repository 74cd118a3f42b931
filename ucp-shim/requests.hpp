// A UCP operation between its call and its end.
//
// Every call that may end later goes down with our own callback and user data, so that its end is
// seen; the caller's are kept in a slot and called with what they expect. Implicit operations have
// none to wait for: UCP frees their request at once, which takes the callback away.
//
// Protocol of TrackedRequest::state, which the posting call and the callback may reach at the same
// time on different threads:   in_call -> returned (by the call)  or  in_call -> fired (by the
// callback). Whoever comes second gives the slot back.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>

#include "event-log/recorder.hpp"
#include "ucp-shim/parameters.hpp"

namespace uctrace::ucp {

enum class RequestState : std::uint8_t { in_call, returned, fired };

struct TrackedRequest {
  union Callback {
    ucp_send_nbx_callback_t send;
    ucp_tag_recv_nbx_callback_t receive;
    ucp_am_recv_data_nbx_callback_t data;
    ucp_stream_recv_nbx_callback_t stream;
  } callback;  // the caller's; nullptr if it has none
  void* user_data;
  log::Id operation;
  ucp_tag_recv_info_t received;  // receives that ended inside their call
  ucs_status_t status;
  RequestState state;  // accessed with __atomic builtins
  bool hide_in_call;   // an end inside the call is not told to the caller's callback
  bool listed;         // the program may free it before it ends (active_requests.hpp)
};

// How the end of an operation is known.
enum class Tracking : std::uint8_t {
  callback,  // by our callback, unless it ended at return
  at_return,
  implicit,  // not at all: see UcpOperation::kImplicit
};

// One UCP call being recorded. Inactive (and everything a no-op) while recording is off.
class Call {
 public:
  Call(log::UcpFunction function, const ucp_request_param_t* param,
       Tracking tracking = Tracking::callback);

  bool active() const { return lane_ != nullptr; }
  log::Id id() const { return id_; }
  RequestParam& parameters() { return parameters_; }
  // What to hand down instead of the caller's `param`.
  const ucp_request_param_t* handed(const ucp_request_param_t* param) const {
    return tracking_ == Tracking::callback && parameters_known_
               ? reinterpret_cast<const ucp_request_param_t*>(&parameters_)
               : param;
  }
  // nullptr: no slot was ready, or unknown parameters; the operation passes through untracked.
  TrackedRequest* tracked() { return tracked_; }

  // The fields of UcpOperation that depend on the family of the function.
  struct Operation {
    std::uint64_t handle;
    const void* buffer;
    std::uint64_t bytes;
    bool bytes_known;
    union {
      std::uint64_t tag, remote, am_id, data;
    };
    union {
      std::uint64_t tag_mask, reply_buffer, header_bytes, received_bytes;
    };
    std::uint64_t posted_tick;  // tags; 0 = at the call
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
  void track(const ucp_request_param_t* param);
  void list(void* request);
  void record(ucs_status_t status, const Operation& operation, std::uint64_t end);

  log::Lane* lane_;
  log::UcpFunction function_;
  Tracking tracking_;
  log::Id id_ = 0;
  std::uint64_t start_ = 0;
  RequestParam parameters_;  // the caller's with ours in them, to hand down
  bool parameters_known_ = false;
  TrackedRequest* tracked_ = nullptr;
};

// Our callbacks; `user_data` is the TrackedRequest.
void on_send_end(void* request, ucs_status_t status, void* user_data);
void on_receive_end(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                    void* user_data);
void on_data_end(void* request, ucs_status_t status, std::size_t length, void* user_data);
void on_stream_end(void* request, ucs_status_t status, std::size_t length, void* user_data);

// The older form that the program called, while its nbx form runs inside it. One that calls another
// older one keeps its name.
extern thread_local constinit log::UcpFunction called_as __attribute__((tls_model("initial-exec")));

class CalledAs {
 public:
  explicit CalledAs(log::UcpFunction function) : outermost_(called_as == log::UcpFunction::none) {
    called_as = outermost_ ? function : called_as;
  }
  ~CalledAs() { called_as = outermost_ ? log::UcpFunction::none : called_as; }
  CalledAs(const CalledAs&) = delete;
  CalledAs& operator=(const CalledAs&) = delete;

 private:
  bool outermost_;
};

// The name to record; taken, so that calls made by callbacks inside do not inherit it.
inline log::UcpFunction name_for(log::UcpFunction nbx) {
  const log::UcpFunction function = called_as != log::UcpFunction::none ? called_as : nbx;
  called_as = log::UcpFunction::none;
  return function;
}

// True once this process's UCP layer is recording.
bool layer_on();
void switch_layer_on();

}  // namespace uctrace::ucp
