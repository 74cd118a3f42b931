// UCP queries UCT's offers when a context is made, mostly before the log begins. So they are kept
// here and written once there is a log.
#include "uct-shim/offers.hpp"

#include <stdio.h>
#include <string.h>
#include <uct/api/uct.h>

#include <atomic>

#include "event-log/format/setting_names.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/fork_lock.hpp"
#include "interpose/original.hpp"
#include "uct-shim/version_check.hpp"

namespace uctrace::uct {

namespace {

using interpose::Held;
using interpose::Original;
using log::SettingFrom;

// NAME=VALUE, as settings are in the log.
struct Offer {
  SettingFrom from;
  char text[UCT_TL_NAME_MAX + UCT_COMPONENT_NAME_MAX + UCT_DEVICE_NAME_MAX];
};

// More than the largest nodes have; the log says if some were left out.
constexpr std::size_t kMostOffers = 1024;
constinit interpose::ForkLock offers_lock;
constinit Offer offers[kMostOffers]{};
constinit std::size_t offer_count = 0;
constinit std::size_t told_count = 0;     // of these are in the log
constinit std::uint32_t told_in_log = 0;  // with this number

bool is_kept(const Offer& offer) {
  for (std::size_t i = 0; i < offer_count; ++i) {
    if (offers[i].from == offer.from && strcmp(offers[i].text, offer.text) == 0) return true;
  }
  return false;
}

void keep(const Offer& offer) {
  const Held held(offers_lock);
  if (offer_count == kMostOffers || is_kept(offer)) return;
  const bool is_last = offer_count + 1 == kMostOffers;
  offers[offer_count] =
      is_last ? Offer{SettingFrom::system, "ucx_offers=more than are listed"} : offer;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a fork child may take over in between
  ++offer_count;
}

void keep_device(const uct_tl_resource_desc_t& resource) {
  Offer offer{SettingFrom::offered, ""};
  snprintf(offer.text, sizeof offer.text, "%.*s=%.*s", UCT_TL_NAME_MAX, resource.tl_name,
           UCT_DEVICE_NAME_MAX, resource.dev_name);
  keep(offer);
}

void keep_component(const uct_component_attr_t& component) {
  // A component that only connects never has a memory domain.
  const bool has_flags = (component.field_mask & UCT_COMPONENT_ATTR_FIELD_FLAGS) != 0;
  const bool connects = has_flags && (component.flags & UCT_COMPONENT_FLAG_CM) != 0;
  if (connects && component.md_resource_count == 0) return;
  Offer offer{SettingFrom::component, ""};
  snprintf(offer.text, sizeof offer.text, "%.*s=%u", UCT_COMPONENT_NAME_MAX, component.name,
           component.md_resource_count);
  keep(offer);
}

// False: all are already in this process's log.
bool take_next(Offer& offer) {
  const Held held(offers_lock);
  if (told_in_log != log::log_number()) {
    told_in_log = log::log_number();
    told_count = 0;
  }
  if (told_count >= offer_count) return false;
  offer = offers[told_count++];
  return true;
}

constinit Original<decltype(&::uct_md_query_tl_resources)> original_resources{
    "uct_md_query_tl_resources"};
constinit Original<decltype(&::uct_component_query)> original_component{"uct_component_query"};

}  // namespace

void tell_offers() {
  if (log::log_number() == 0 || log::layer_state(log::Layer::uct) == log::LayerState::unwanted) {
    return;
  }
  for (Offer offer; take_next(offer);) {
    log::define_text(log::TextKind::setting, static_cast<std::uint64_t>(offer.from), offer.text,
                     strnlen(offer.text, sizeof offer.text));
  }
}

}  // namespace uctrace::uct

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t uct_md_query_tl_resources(uct_md_h domain,
                                                      uct_tl_resource_desc_t** resources,
                                                      unsigned* count) {
  interpose::look_for_patched_ucx();
  const void* caller = __builtin_return_address(0);
  const ucs_status_t status = uct::original_resources.get(caller)(domain, resources, count);
  // The layout of such a list in an unknown UCX is not known.
  if (status == UCS_OK && uct::ucx_release(caller) != nullptr) {
    for (unsigned i = 0; i < *count; ++i) uct::keep_device((*resources)[i]);
    uct::tell_offers();
  }
  return status;
}

UCTRACE_EXPORT ucs_status_t uct_component_query(uct_component_h component,
                                                uct_component_attr_t* attributes) {
  interpose::look_for_patched_ucx();
  const void* caller = __builtin_return_address(0);
  const ucs_status_t status = uct::original_component.get(caller)(component, attributes);
  constexpr std::uint64_t kAsked =
      UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
  if (status == UCS_OK && (attributes->field_mask & kAsked) == kAsked &&
      uct::ucx_release(caller) != nullptr) {
    uct::keep_component(*attributes);
    uct::tell_offers();
  }
  return status;
}
