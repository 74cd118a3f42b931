#include "uct-shim/version_check.hpp"

#include <stdio.h>

#include <atomic>

#include "event-log/recorder/recorder.hpp"
#include "interpose/scope.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::uct {

namespace {

// What was found, and in which log that is told: a fork child has a log of its own.
enum class Answer : std::uint32_t { unknown, yes, no };
constinit std::atomic<std::uint64_t> answer{0};

constexpr std::uint64_t told(Answer answer, std::uint32_t log) {
  return std::uint64_t{log} << 32 | static_cast<std::uint32_t>(answer);
}

bool decide(const void* caller) {
  const std::optional<UcxVersion> version = ucx_version(caller);
  if (!version) {
    return true;  // UCT without UCP: the table's self-check has to do
  }
  const auto [major, minor, patch] = *version;
  char text[48];
  const int n = snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
  log::define_text(log::TextKind::ucx_version, 0, text, static_cast<std::size_t>(n));
  if (ucx::find_release(major, minor) != nullptr) {
    return true;
  }
  for (const log::Layer layer : {log::Layer::uct, log::Layer::ucp}) {
    log::fault(layer, log::FaultCode::unknown_ucx_version, 0, text);
    log::set_layer(layer, log::LayerState::off);
  }
  return false;
}

}  // namespace

std::optional<UcxVersion> ucx_version(const void* caller) {
  using GetVersion = void (*)(unsigned*, unsigned*, unsigned*);
  const auto get_version =
      reinterpret_cast<GetVersion>(interpose::Scope(caller).find_function("ucp_get_version"));
  if (get_version == nullptr) {
    return std::nullopt;
  }
  UcxVersion version{};
  get_version(&version.major, &version.minor, &version.patch);
  return version;
}

bool ucx_supported(const void* caller) {
  const std::uint32_t log = log::log_number();
  const std::uint64_t known = answer.load(std::memory_order_acquire);
  if (known == told(Answer::yes, log)) return true;
  if (known == told(Answer::no, log)) return false;
  const bool is_supported = decide(caller);
  answer.store(told(is_supported ? Answer::yes : Answer::no, log), std::memory_order_release);
  return is_supported;
}

}  // namespace uctrace::uct
