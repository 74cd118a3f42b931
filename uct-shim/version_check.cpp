#include "uct-shim/version_check.hpp"

#include <stdio.h>
#include <string.h>

#include "event-log/recorder/left_layer.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/fork_lock.hpp"
#include "interpose/original.hpp"
#include "interpose/scope.hpp"

namespace uctrace::uct {

namespace {

using GetVersion = void (*)(unsigned*, unsigned*, unsigned*);
constinit interpose::Original<GetVersion> original_get_version{"ucp_get_version"};

enum class Answer : std::uint8_t { unknown, yes, no };

// A UCX of this process, identified by its ucp_get_version. Its index is its number.
struct Known {
  GetVersion get_version;
  std::uint32_t log;  // the log that has it: a fork child has its own
  Answer is_supported;
};
constinit Known known[kUnnumbered]{};
constinit interpose::ForkLock busy;  // for a few loads and stores

struct Place {
  std::uint16_t number;
  Answer is_supported;  // as this log has it
};

Place place_of(GetVersion get_version) {
  const std::uint32_t log = log::log_number();
  const interpose::Held held(busy);
  for (std::uint16_t number = 0; number < kUnnumbered; ++number) {
    Known& one = known[number];
    if (one.get_version == nullptr) one.get_version = get_version;
    if (one.get_version == get_version) {
      return {number, one.log == log ? one.is_supported : Answer::unknown};
    }
  }
  return {kUnnumbered, Answer::unknown};
}

void remember(std::uint16_t number, bool is_supported) {
  if (number == kUnnumbered) return;
  const interpose::Held held(busy);
  known[number].log = log::log_number();
  known[number].is_supported = is_supported ? Answer::yes : Answer::no;
}

UcxVersion ask(GetVersion get_version) {
  UcxVersion version{};
  get_version(&version.major, &version.minor, &version.patch);
  return version;
}

// Records which UCX it is.
bool decide(GetVersion get_version, std::uint16_t number, const void* caller) {
  const auto [major, minor, patch] = ask(get_version);
  char text[48];
  const int n = snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
  const char* path =
      interpose::module_path(interpose::Scope(caller).find_function("ucp_worker_create"));
  log::define_text(log::TextKind::ucx_version, number, text, static_cast<std::size_t>(n));
  log::define_text(log::TextKind::ucx_library, number, path, strlen(path));
  if (ucx::find_release(major, minor) != nullptr) {
    return true;
  }
  char detail[1024];
  snprintf(detail, sizeof detail, "%s in %s", text, path);
  for (const log::Layer layer : {log::Layer::uct, log::Layer::ucp}) {
    if (log::layer_state(layer) == log::LayerState::unwanted) continue;
    log::fault(layer, log::FaultCode::unknown_ucx_version, 0, detail);
    log::leave_layer(layer);  // a known UCX beside it is still recorded
  }
  return false;
}

}  // namespace

std::optional<UcxVersion> ucx_version(const void* caller) {
  const GetVersion get_version = original_get_version.get(caller);
  return get_version != nullptr ? std::optional(ask(get_version)) : std::nullopt;
}

const ucx::Release* ucx_release(const void* caller) {
  const std::optional<UcxVersion> version = ucx_version(caller);
  return version ? ucx::find_release(version->major, version->minor) : nullptr;
}

bool ucx_supported(const void* caller) {
  const GetVersion get_version = original_get_version.get(caller);
  if (get_version == nullptr) {
    return true;  // UCT without UCP: the table's self-check must be enough
  }
  const Place place = place_of(get_version);
  if (place.is_supported != Answer::unknown) {
    return place.is_supported == Answer::yes;
  }
  const bool is_supported = decide(get_version, place.number, caller);
  remember(place.number, is_supported);
  return is_supported;
}

std::uint16_t ucx_number(const void* caller) {
  const GetVersion get_version = original_get_version.get(caller);
  return get_version != nullptr ? place_of(get_version).number : kUnnumbered;
}

}  // namespace uctrace::uct
