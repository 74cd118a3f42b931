// Which hook belongs into which slot of an interface's table of operations.
#include <string.h>

#include "interpose/leave_out.hpp"
#include "uct-shim/operations.hpp"
#include "uct-shim/pending.hpp"

namespace uctrace::uct {

namespace {

using log::UctHook;

template <typename Visitor>
void each_hook(uct_iface_ops_t& table, Visitor visit) {
#define UCTRACE_HOOK(slot, hook) visit(UctHook::slot, #slot, table.slot, hook)
  UCTRACE_HOOK(ep_put_short, put_short);
  UCTRACE_HOOK(ep_put_bcopy, put_bcopy);
  UCTRACE_HOOK(ep_put_zcopy, put_zcopy);
  UCTRACE_HOOK(ep_get_short, get_short);
  UCTRACE_HOOK(ep_get_bcopy, get_bcopy);
  UCTRACE_HOOK(ep_get_zcopy, get_zcopy);
  UCTRACE_HOOK(ep_am_short, am_short);
  UCTRACE_HOOK(ep_am_short_iov, am_short_iov);
  UCTRACE_HOOK(ep_am_bcopy, am_bcopy);
  UCTRACE_HOOK(ep_am_zcopy, am_zcopy);
  UCTRACE_HOOK(ep_atomic_cswap64, cswap64);
  UCTRACE_HOOK(ep_atomic_cswap32, cswap32);
  UCTRACE_HOOK(ep_atomic32_post, atomic32_post);
  UCTRACE_HOOK(ep_atomic64_post, atomic64_post);
  UCTRACE_HOOK(ep_atomic32_fetch, atomic32_fetch);
  UCTRACE_HOOK(ep_atomic64_fetch, atomic64_fetch);
  UCTRACE_HOOK(ep_tag_eager_short, tag_eager_short);
  UCTRACE_HOOK(ep_tag_eager_bcopy, tag_eager_bcopy);
  UCTRACE_HOOK(ep_tag_eager_zcopy, tag_eager_zcopy);
  UCTRACE_HOOK(ep_tag_rndv_zcopy, tag_rndv_zcopy);
  UCTRACE_HOOK(ep_tag_rndv_cancel, tag_rndv_cancel);
  UCTRACE_HOOK(ep_tag_rndv_request, tag_rndv_request);
  UCTRACE_HOOK(iface_tag_recv_zcopy, tag_recv_zcopy);
  UCTRACE_HOOK(iface_tag_recv_cancel, tag_recv_cancel);
  UCTRACE_HOOK(ep_pending_add, pending_add);
  UCTRACE_HOOK(ep_pending_purge, pending_purge);
  UCTRACE_HOOK(ep_flush, ep_flush);
  UCTRACE_HOOK(ep_fence, ep_fence);
  UCTRACE_HOOK(ep_check, ep_check);
  UCTRACE_HOOK(iface_flush, iface_flush);
#undef UCTRACE_HOOK
}

std::uint64_t bit_of(UctHook hook) { return std::uint64_t{1} << static_cast<unsigned>(hook); }

}  // namespace

void swap_operations(uct_iface_ops_t& table) {
  each_hook(table, [](UctHook, const char* name, auto& slot, auto* hook) {
    if (slot != nullptr && !interpose::left_out(name)) {
      __atomic_store_n(&slot, hook, __ATOMIC_RELEASE);
    }
  });
}

HookedSlots hooked_slots(const uct_iface_ops_t& offered, uct_iface_ops_t& table) {
  HookedSlots slots{0, 0};
  each_hook(table, [&](UctHook which, const char*, auto& slot, auto* hook) {
    slots.hooked |= slot == hook ? bit_of(which) : 0;
  });
  uct_iface_ops_t copy = offered;
  each_hook(copy, [&](UctHook which, const char*, auto& slot, auto*) {
    slots.offered |= slot != nullptr ? bit_of(which) : 0;
  });
  return slots;
}

bool is_slot_name(const char* name, std::size_t length) {
  bool found = false;
  uct_iface_ops_t none{};
  each_hook(none, [&](UctHook, const char* slot, auto&, auto*) {
    found = found || (strlen(slot) == length && memcmp(slot, name, length) == 0);
  });
  return found;
}

}  // namespace uctrace::uct
