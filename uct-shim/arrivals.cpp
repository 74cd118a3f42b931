// Arrivals of active messages: our handler stands in front of each one that is set on a hooked
// interface, records the message and makes it the context of what its handler posts in reply.
#include "event-log/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

namespace {

constinit interpose::Original<decltype(&uct_iface_set_am_handler)> original_set_handler{
    "uct_iface_set_am_handler"};

struct Arrived {
  log::Id id;
  std::uint64_t tick;
  std::uint32_t bytes;
  std::uint8_t am_id, words;
  std::uint16_t interface;
  std::uint64_t header[log::kMaxHeaderWords];
};

void record(log::Lane& lane, const Arrived& arrived) {
  ++lane.counters().uct_arrivals;
  auto* r =
      lane.reserve<log::UctArrival>(log::DropKind::uct, arrived.words * sizeof(std::uint64_t));
  if (r == nullptr) {
    return;
  }
  const std::uint64_t duration = log::now() - arrived.tick;
  r->start_tick = arrived.tick;
  r->id = arrived.id;
  r->bytes = arrived.bytes;
  r->am_id = arrived.am_id;
  r->header_words = arrived.words;
  wire::copy_words(reinterpret_cast<std::uint64_t*>(r + 1), arrived.header, arrived.words);
  log::publish(r, log::RecordType::uct_arrival, sizeof *r / 8 + arrived.words, arrived.interface,
               duration < UINT32_MAX ? static_cast<std::uint32_t>(duration) : UINT32_MAX);
}

// The header is copied before the handler runs: it may give the buffer away.
ucs_status_t on_arrival(void* argument, void* data, std::size_t length, unsigned flags) {
  const auto* handler = static_cast<const AmHandler*>(argument);
  log::Lane* lane = log::lane();
  if (lane == nullptr) {
    log::count_without_lane(log::DropKind::uct);
    return handler->callback(handler->argument, data, length, flags);
  }
  Arrived arrived;
  arrived.tick = log::now();
  arrived.id = log::new_id(*lane, log::IdKind::arrival);
  arrived.bytes = static_cast<std::uint32_t>(length);
  arrived.am_id = handler->am_id;
  arrived.interface = handler->interface->id;
  const std::size_t available = length / sizeof(std::uint64_t);
  const std::size_t wanted = wire::shape_of(handler->am_id).words;
  arrived.words = static_cast<std::uint8_t>(available < wanted ? available : wanted);
  wire::copy_words(arrived.header, data, arrived.words);

  ucs_status_t status;
  {
    const ContextScope scope({arrived.id, log::Origin::arrival, log::Route::call});
    status = handler->callback(handler->argument, data, length, flags);
  }
  if (log::lane() == lane) [[likely]] {  // else the program forked in it, and this is the child
    record(*lane, arrived);
  }
  return status;
}

}  // namespace

}  // namespace uctrace::uct

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t uct_iface_set_am_handler(uct_iface_h iface, std::uint8_t id,
                                                     uct_am_callback_t callback, void* argument,
                                                     std::uint32_t flags) {
  auto* next = uct::original_set_handler.get(__builtin_return_address(0));
  uct::Interface* entry = uct::find_open_interface(iface);
  if (callback == nullptr || entry == nullptr || id >= wire::kAmIds) {
    return next(iface, id, callback, argument, flags);
  }
  uct::AmHandler& handler = entry->handlers[id];
  handler = {callback, argument, entry, id};
  return next(iface, id, uct::on_arrival, &handler, flags);
}
