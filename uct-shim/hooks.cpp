// Which hook goes into which slot of an interface's table of operations.
#include <string.h>

#include "event-log/format/ucx_functions.hpp"
#include "event-log/recorder/counters.hpp"
#include "interpose/leave_out.hpp"
#include "uct-shim/operations.hpp"
#include "uct-shim/pending.hpp"

namespace uctrace::uct {

namespace {

using log::UctHook;

template <typename Visitor>
void each_hook(uct_iface_ops_t& table, Visitor visit) {
#define UCTRACE_HOOK(slot, hook) visit(UctHook::slot, #slot, table.slot, hook);
  UCTRACE_UCT_SLOTS(UCTRACE_HOOK)
#undef UCTRACE_HOOK
}

std::uint64_t bit_of(UctHook hook) { return std::uint64_t{1} << static_cast<unsigned>(hook); }

// While operations are only counted, pending requests are not followed.
bool is_wanted(UctHook hook) {
  return !log::counts_only() ||
         (hook != UctHook::ep_pending_add && hook != UctHook::ep_pending_purge);
}

}  // namespace

void swap_operations(uct_iface_ops_t& table) {
  each_hook(table, [](UctHook which, const char* name, auto& slot, auto* hook) {
    if (slot != nullptr && is_wanted(which) && !interpose::left_out(name)) {
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
    slots.offered |= slot != nullptr && is_wanted(which) ? bit_of(which) : 0;
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
