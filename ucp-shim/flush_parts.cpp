#include "ucp-shim/flush_parts.hpp"

#include <ucp/api/ucp.h>

#include <atomic>

#include "event-log/recorder/address_map.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "uct-shim/deferred.hpp"

namespace uctrace::ucp {

namespace {

thread_local constinit uct::Context first_part_of{};  // of kind none: of no flush
bool is_first_part() { return first_part_of.kind != log::Origin::none; }

// The flush that a part started now belongs to, if known. After its first part, a blocking flush
// makes progress.
uct::Context take_owner() {
  uct::ThreadState& state = uct::thread_state;
  const uct::Context owner = is_first_part() ? first_part_of : state.context;
  if (is_first_part()) {
    first_part_of = {};
    state.context.route = log::Route::blocking;
  }
  return owner;
}

// --- callbacks of progress -----------------------------------------------------------------------

// The key is the place where UCP keeps the callback's id, by which UCP unregisters it. Callbacks
// that UCX calls only once are left alone: UCP finds those again by their function.
struct Kept {
  ucs_callback_t callback;
  void* argument;
  uct::Context context;
};
using KeptCallbacks = log::AddressMap<Kept, 1 << 12>;
constinit KeptCallbacks kept;
constinit std::atomic<std::uint32_t> kept_count{0};
constexpr unsigned kRepeatedly = 0;  // flags: neither fast nor once

unsigned call_in_context(void* argument) {
  const Kept entry = static_cast<const KeptCallbacks::Entry*>(argument)->value;
  const uct::ContextScope scope(entry.context.by_way_of(log::Route::callback));
  return entry.callback(entry.argument);  // it may unregister itself
}

constinit interpose::Original<decltype(&uct_worker_progress_register_safe)> original_register{
    "uct_worker_progress_register_safe"};
constinit interpose::Original<decltype(&uct_worker_progress_unregister_safe)> original_unregister{
    "uct_worker_progress_unregister_safe"};

// A function of libucp itself that starts every flush of an endpoint; no header declares it. It
// takes six machine words, seven since UCX 1.20; one too many does no harm.
using Word = std::uintptr_t;
using StartFlush = ucs_status_ptr_t (*)(Word, Word, Word, Word, Word, Word, Word);
constinit interpose::Original<StartFlush> original_start_flush{"ucp_ep_flush_internal"};

}  // namespace

FirstPartOf::FirstPartOf(const uct::Context& context) : outer_(first_part_of) {
  first_part_of = context;
}
FirstPartOf::~FirstPartOf() { first_part_of = outer_; }

}  // namespace uctrace::ucp

using namespace uctrace;

UCTRACE_EXPORT void uct_worker_progress_register_safe(uct_worker_h worker, ucs_callback_t callback,
                                                      void* argument, unsigned flags,
                                                      uct_worker_cb_id_t* id) {
  auto* original = ucp::original_register.get(__builtin_return_address(0));
  const bool keeps = ucp::is_first_part() && flags == ucp::kRepeatedly && id != nullptr;
  auto* entry = keeps ? ucp::kept.claim(id) : nullptr;
  if (entry == nullptr) {
    return original(worker, callback, argument, flags, id);
  }
  entry->value = {callback, argument, ucp::take_owner()};
  ucp::kept_count.fetch_add(1, std::memory_order_relaxed);
  original(worker, ucp::call_in_context, entry, flags, id);
}

UCTRACE_EXPORT void uct_worker_progress_unregister_safe(uct_worker_h worker,
                                                        uct_worker_cb_id_t* id) {
  ucp::original_unregister.get(__builtin_return_address(0))(worker, id);
  if (ucp::kept_count.load(std::memory_order_relaxed) != 0) {
    if (auto* entry = ucp::kept.find(id)) {
      ucp::KeptCallbacks::free(entry);
      ucp::kept_count.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_ep_flush_internal(ucp::Word endpoint, ucp::Word flags,
                                                      ucp::Word param, ucp::Word worker_request,
                                                      ucp::Word flushed, ucp::Word name,
                                                      ucp::Word uct_flags) {
  auto* original = ucp::original_start_flush.get(__builtin_return_address(0));
  const uct::Context owner = ucp::take_owner();
  ucs_status_ptr_t request;
  {
    const uct::ContextScope scope(owner);
    request = original(endpoint, flags, param, worker_request, flushed, name, uct_flags);
  }
  // While the endpoint connects, some or all of the flush waits inside UCP.
  if (UCS_PTR_IS_PTR(request) && owner.definite()) {
    uct::defer(uct::request_of_handle(request), owner);
  }
  return request;
}
