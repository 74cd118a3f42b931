// Arrivals of active messages: our handler wraps each handler that is set on a hooked interface,
// records the message, and makes it the context of operations that the handler posts in reply.
#include "uct-shim/arrivals.hpp"

#include "event-log/recorder/counters.hpp"
#include "interpose/export.hpp"
#include "interpose/leave_out.hpp"
#include "interpose/original.hpp"
#include "uct-shim/am_header.hpp"
#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

namespace {

constinit interpose::Original<decltype(&uct_iface_set_am_handler)> original_set_handler{
    "uct_iface_set_am_handler"};

[[gnu::noinline]] ucs_status_t record_arrival(void* argument, void* data, std::size_t length,
                                              unsigned flags) {
  const auto* handler = static_cast<const AmHandler*>(argument);
  Arrived arrived;
  arrived.bytes = length;
  arrived.am_id = handler->am_id;
  arrived.interface = handler->interface->id;
  arrived.words = keep_words(arrived.header, handler->am_id, data, length);
  arrived.connects = handler->interface->of_ucp && wire::connects(handler->am_id);
  const Delivery delivery(arrived);
  return handler->callback(handler->argument, data, length, flags);
}

// Its handler posts for nobody whom a record names.
[[gnu::noinline]] ucs_status_t leave_out_arrival(void* argument, void* data, std::size_t length,
                                                 unsigned flags) {
  log::Lane* const lane = log::lane_that_stays_off();
  if (lane == nullptr) return record_arrival(argument, data, length, flags);
  ++lane->counters().uct_arrivals;
  lane->leave_out(log::DropKind::uct);
  const NoContextScope scope;
  const auto* handler = static_cast<const AmHandler*>(argument);
  return handler->callback(handler->argument, data, length, flags);
}

ucs_status_t on_arrival(void* argument, void* data, std::size_t length, unsigned flags) {
  return log::leaves_out() ? leave_out_arrival(argument, data, length, flags)
                           : record_arrival(argument, data, length, flags);
}

}  // namespace

}  // namespace uctrace::uct

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t uct_iface_set_am_handler(uct_iface_h iface, std::uint8_t id,
                                                     uct_am_callback_t callback, void* argument,
                                                     std::uint32_t flags) {
  auto* next = uct::original_set_handler.get(__builtin_return_address(0));
  uct::Interface* entry = uct::find_open_interface(iface);
  if (log::counts_only() || callback == nullptr || entry == nullptr || id >= wire::kAmIds ||
      interpose::left_out("uct_iface_set_am_handler")) {
    return next(iface, id, callback, argument, flags);
  }
  uct::AmHandler& handler = entry->handlers[id];
  const uct::AmHandler before = handler;
  handler = {callback, argument, entry, id};
  const ucs_status_t status = next(iface, id, uct::on_arrival, &handler, flags);
  if (status != UCS_OK) {
    handler = before;  // it is still set
  }
  return status;
}
