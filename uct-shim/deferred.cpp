#include "uct-shim/deferred.hpp"

#include "event-log/recorder/address_map.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::uct {

// Not in the cache line of the data that every post reads.
alignas(128) constinit std::atomic<std::uint32_t> deferred_requests{0};

namespace {

struct Deferred {
  log::Id origin;
  log::Origin kind;
  std::uint32_t era;
};
constinit log::AddressMap<Deferred, 1 << 16> deferred;
alignas(128) constinit std::atomic<std::uint32_t> era{0};  // entries of an older one are void

constinit std::atomic<RequestLayout> layout{RequestLayout{}};
static_assert(std::atomic<RequestLayout>::is_always_lock_free);
constinit std::atomic<bool> layout_decided{false};

constexpr std::size_t kMaxMovers = 8;  // copies of libucp
constinit std::atomic<uct_pending_purge_callback_t> movers[kMaxMovers]{};

Request offset(const void* address, std::uint16_t distance, std::ptrdiff_t direction) {
  return address == nullptr || distance == 0
             ? nullptr
             : static_cast<const char*>(address) + direction * distance;
}

}  // namespace

void defer(Request request, const Context& context) {
  if (request == nullptr) {
    return;
  }
  const bool fresh = deferred.find(request) == nullptr;
  if (auto* entry = deferred.claim(request)) {
    entry->value = {context.origin, context.kind, era.load(std::memory_order_relaxed)};
    if (fresh) {
      deferred_requests.fetch_add(1, std::memory_order_relaxed);
    }
  } else if (log::Lane* lane = log::lane()) {
    ++lane->counters().ucp_requests_not_carried;
  }
}

void forget_deferred(Request request) {
  auto* entry = request != nullptr && any_deferred() ? deferred.find(request) : nullptr;
  if (entry != nullptr) {
    deferred.free(entry);
    deferred_requests.fetch_sub(1, std::memory_order_relaxed);
  }
}

void forget_all_deferred() {
  if (any_deferred()) {
    era.fetch_add(1, std::memory_order_relaxed);
  }
}

bool find_deferred(Request request, Context& context) {
  const auto* entry = request != nullptr && any_deferred() ? deferred.find(request) : nullptr;
  if (entry == nullptr || entry->value.era != era.load(std::memory_order_relaxed)) {
    return false;
  }
  context = {entry->value.origin, entry->value.kind, log::Route::request};
  return true;
}

void set_request_mover(uct_pending_purge_callback_t mover) {
  for (auto& place : movers) {
    uct_pending_purge_callback_t taken = nullptr;
    if (mover == nullptr || place.compare_exchange_strong(taken, mover) || taken == mover) {
      return;
    }
  }
}

bool moves_requests(uct_pending_purge_callback_t callback) {
  for (const auto& mover : movers) {
    if (mover.load(std::memory_order_relaxed) == callback) {
      return true;
    }
  }
  return false;
}

RequestLayout request_layout(const ucx::Release& release, std::size_t request_size) {
  for (const ucx::RequestPlaces& known : release.requests) {
    if (known.size != 0 && known.size == request_size) {
      return {static_cast<std::uint16_t>(known.size - known.request),
              static_cast<std::uint16_t>(known.request - known.completion), known.request, 0};
    }
  }
  return {};
}

void use_request_layout(const RequestLayout& wanted) {
  const bool first = !layout_decided.exchange(true, std::memory_order_acq_rel);
  const bool same = layout.load(std::memory_order_acquire) == wanted;
  layout.store(first || same ? wanted : RequestLayout{}, std::memory_order_release);
}

Request request_of_handle(const void* handle) {
  return offset(handle, layout.load(std::memory_order_relaxed).before_handle, -1);
}

Request request_of_completion(const uct_completion_t* completion) {
  return offset(completion, layout.load(std::memory_order_relaxed).after_completion, 1);
}

Request request_at(const void* begin) {
  return offset(begin, layout.load(std::memory_order_relaxed).after_begin, 1);
}

}  // namespace uctrace::uct
