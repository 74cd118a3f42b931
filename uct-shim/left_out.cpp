// Says in the log which hooks UCTRACE_LEAVE_OUT leaves out, so nobody takes such a log for a
// complete one.
#include <string.h>

#include "event-log/format/ucp_names.hpp"
#include "event-log/recorder/once_per_log.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/leave_out.hpp"
#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

namespace {

bool equals(const char* name, std::size_t length, const char* known) {
  return strlen(known) == length && memcmp(known, name, length) == 0;
}

template <typename Names>
bool is_one_of(const Names& names, std::string_view name) {
  for (const std::string_view known : names) {
    if (name == known) {
      return true;
    }
  }
  return false;
}

void report(const char* name, std::size_t length) {
  char text[64];
  length = length < sizeof text ? length : sizeof text - 1;
  memcpy(text, name, length);
  text[length] = '\0';
  const bool of_ucp = strncmp(text, "ucp_", 4) == 0;
  const bool known = is_slot_name(name, length) || is_one_of(log::kUcpFunctionNames, text) ||
                     is_one_of(log::kMemoryFunctionNames, text) ||
                     equals(name, length, "uct_iface_set_am_handler") ||
                     equals(name, length, "uct_ep_put_sgl_zcopy") ||
                     equals(name, length, "uct_ep_get_sgl_zcopy");
  log::fault(of_ucp ? log::Layer::ucp : log::Layer::uct, log::FaultCode::left_out, known, text);
}

}  // namespace

void report_left_out() {
  static constinit log::OncePerLog reported;
  const char* at = interpose::leave_out();
  if (at == nullptr || !reported.take()) {
    return;
  }
  while (at != nullptr) {
    const char* end = strchrnul(at, ',');
    if (end != at) {
      report(at, static_cast<std::size_t>(end - at));
    }
    at = *end != '\0' ? end + 1 : nullptr;
  }
}

}  // namespace uctrace::uct
