#include "uct-shim/post.hpp"

#include <stddef.h>

#include <bit>

#include "device-attributor/device_attributor.hpp"
#include "event-log/recorder/address_map.hpp"

namespace uctrace::uct {

using log::DropKind;
using log::UctOperation;

namespace {

// Rendezvous in progress by their handle. If one finds no place, its cancellation is not noticed:
// it stays outstanding.
constinit log::AddressMap<TrackedCompletion*, 1 << 12> rendezvous;

void forget_rendezvous(const TrackedCompletion* tracked) {
  auto* entry = rendezvous.find(tracked->rendezvous);
  if (entry != nullptr && entry->value == tracked) {
    rendezvous.free(entry);
  }
}

// True for the second of the two calls.
bool second_at(TrackedCompletion* tracked, RendezvousState mine) {
  return __atomic_exchange_n(&tracked->state, mine, __ATOMIC_ACQ_REL) != RendezvousState::in_call;
}

}  // namespace

namespace {

// Whether the transport itself accesses the data at its address. For short and buffered operations
// the processor does, unless the interface copies.
bool is_zcopy(log::UctOp op) {
  switch (op) {
    case log::UctOp::put_zcopy:
    case log::UctOp::get_zcopy:
    case log::UctOp::am_zcopy:
    case log::UctOp::tag_eager_zcopy:
    case log::UctOp::tag_rndv_zcopy:
    case log::UctOp::tag_recv_zcopy:
    case log::UctOp::put_sgl_zcopy:
    case log::UctOp::get_sgl_zcopy:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool add_memory(log::Lane& lane, const Interface& interface, Addresses addresses,
                log::ExtraWords& extra) {
  const auto [op, status, local, remote] = addresses;
  const bool has_local = local != 0 && (interface.copies || is_zcopy(op));
  const bool has_remote = remote != 0 && interface.copies;
  const bool moves = status >= 0 && (has_local || has_remote);
  extra.has_memory = moves && gpu::active() && !lane.leaves_out();
  if (!extra.has_memory) {
    return false;
  }
  const log::TransferMemory memory{
      has_local ? gpu::memory_of(lane, local) : log::kMemoryNotAsked,
      has_remote ? gpu::memory_of(lane, remote) : log::kMemoryNotAsked};
  extra.words[0] = std::bit_cast<std::uint64_t>(memory);
  return true;
}

uct_completion_t* Post::track(uct_completion_t* completion) {
  has_completion_ = completion != nullptr;
  if (completion == nullptr || passes_through() || log::counts_only()) {
    return completion;
  }
  is_for(request_of_completion(completion));
  last_of_flush_ = op_ == log::UctOp::ep_flush && completion->count <= 1;
  log::Slot* slot = lane_ != nullptr ? log::acquire_slot(*lane_) : nullptr;
  if (slot == nullptr) {
    return completion;
  }
  id_ = id_ != 0 ? id_ : log::new_id(*lane_, log::IdKind::uct_operation);
  thread_state.posting.id = id_;
  has_end_ = true;
  tracked_ = log::payload_of<TrackedCompletion>(slot);
  tracked_->own = {on_completion, 1, UCS_OK};
  tracked_->original = completion;
  tracked_->operation = id_;
  const Context context = this->context();
  tracked_->origin = context.origin;
  tracked_->origin_kind = context.kind;
  tracked_->route = context.route;
  tracked_->state = RendezvousState::none;
  return &tracked_->own;
}

uct_completion_t* Post::track_rendezvous(uct_completion_t* completion) {
  uct_completion_t* handed = track(completion);
  if (tracked_ != nullptr) {
    tracked_->state = RendezvousState::in_call;
  }
  return handed;
}

// Before the record is made: finish() must not touch a released slot.
void Post::settle(void* handle) {
  if (tracked_ == nullptr || UCS_PTR_IS_ERR(handle)) {
    return;
  }
  TrackedCompletion* tracked = tracked_;
  tracked_ = nullptr;
  tracked->rendezvous = handle;
  if (auto* entry = rendezvous.claim(handle)) {
    entry->value = tracked;
  }
  if (second_at(tracked, RendezvousState::returned)) {
    forget_rendezvous(tracked);
    log::release_slot(log::slot_of(tracked));
  }
}

log::Id Post::identify() {
  if (lane_ != nullptr && !log::counts_only()) {
    id_ = log::new_id(*lane_, log::IdKind::uct_operation);
    thread_state.posting.id = id_;
    has_end_ = true;
  }
  return id_;
}

void record_completion(log::Lane& lane, log::Id operation, ucs_status_t status) {
  if (auto* record = lane.reserve<log::UctCompletion>(DropKind::uct)) {
    record->tick = log::now();
    record->operation = operation;
    log::publish(record, log::RecordType::uct_completion, sizeof *record / 8, 0,
                 static_cast<std::uint32_t>(status));
  }
}

// Order: record, release the slot, then tell the caller, whose callback may post again.
void on_completion(uct_completion_t* own) {
  auto* tracked = reinterpret_cast<TrackedCompletion*>(own);
  static_assert(offsetof(TrackedCompletion, own) == 0);
  const ucs_status_t status = own->status;
  uct_completion_t* const original = tracked->original;
  const Context context{tracked->origin, tracked->origin_kind, tracked->route};
  if (log::Lane* lane = log::lane()) {
    ++lane->counters().uct_completed;
    record_completion(*lane, tracked->operation, status);
  } else {
    log::count_without_lane(DropKind::uct);
  }
  if (__atomic_load_n(&tracked->state, __ATOMIC_RELAXED) == RendezvousState::none) {
    log::release_slot(log::slot_of(tracked));
  } else if (second_at(tracked, RendezvousState::fired)) {
    forget_rendezvous(tracked);
    log::release_slot(log::slot_of(tracked));
  }

  if (status != UCS_OK && original->status == UCS_OK) {
    original->status = status;
  }
  if (--original->count == 0) {
    forget_deferred(request_of_completion(original));  // no part of it waits any more
    const ContextScope scope(context.by_way_of(log::Route::completion));
    original->func(original);
  }
}

void cancel_rendezvous(void* handle) {
  auto* entry = rendezvous.find(handle);
  if (entry == nullptr) {
    return;
  }
  TrackedCompletion* tracked = entry->value;
  rendezvous.free(entry);
  if (log::Lane* lane = log::lane()) {
    ++lane->counters().uct_completed;
    record_completion(*lane, tracked->operation, UCS_ERR_CANCELED);
  }
  log::release_slot(log::slot_of(tracked));
}

}  // namespace uctrace::uct
