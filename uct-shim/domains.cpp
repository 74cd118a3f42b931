#include "uct-shim/domains.hpp"

#include <stdio.h>
#include <string.h>

#include <atomic>

#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/newest.hpp"
#include "interpose/original.hpp"
#include "uct-shim/memory_calls.hpp"

namespace uctrace::uct {

namespace {

using interpose::Original;

// Only the newest: after a domain its interfaces are opened next.
struct DomainName {
  char text[kDomainNameBytes];
};
constinit interpose::Newest<uct_md_h, DomainName, 256> domain_names;

void remember_domain(uct_md_h handle, const char* name) {
  DomainName kept{};
  snprintf(kept.text, sizeof kept.text, "%s", name);
  domain_names.remember(handle, kept);
}

// The handles whose names are in the log, each with the number of the log in its upper bits, in one
// of its four places. A handle that is evicted gets its name written again.
constexpr std::size_t kSets = 64, kPlaces = 4;
struct Told {
  std::atomic<std::uint64_t> places[kPlaces];
  std::atomic<std::uint32_t> next;
};
constinit Told told[kSets]{};

Told& set_of(const void* handle) {
  return told[(number_of(handle) >> 4) * 0x9E3779B97F4A7C15u >> 58];
}

std::uint64_t telling(const void* handle) {
  return number_of(handle) | static_cast<std::uint64_t>(log::log_number()) << 48;
}

bool is_told(const void* handle) {
  for (const std::atomic<std::uint64_t>& place : set_of(handle).places) {
    if (place.load(std::memory_order_relaxed) == telling(handle)) return true;
  }
  return false;
}

void tell(const void* handle, const char* name) {
  if (name[0] == '\0') return;
  Told& set = set_of(handle);
  const std::uint32_t place = set.next.fetch_add(1, std::memory_order_relaxed) % kPlaces;
  set.places[place].store(telling(handle), std::memory_order_relaxed);
  log::define_text(log::TextKind::memory_domain, number_of(handle), name, strlen(name));
}

// From now on the handle belongs to another domain.
void forget(const void* handle) {
  for (std::atomic<std::uint64_t>& place : set_of(handle).places) {
    std::uint64_t known = telling(handle);
    place.compare_exchange_strong(known, 0, std::memory_order_relaxed);
  }
}

constinit Original<decltype(&::uct_component_query)> original_query{"uct_component_query"};
constinit Original<decltype(&::uct_md_open)> original_open{"uct_md_open"};

}  // namespace

void name_domain(uct_md_h domain, char (&name)[kDomainNameBytes]) {
  const DomainName known = domain_names.of(domain);
  memcpy(name, known.text, sizeof name);
}

bool tell_domain(uct_md_h domain) {
  if (is_told(domain)) return false;
  char name[kDomainNameBytes];
  name_domain(domain, name);
  tell(domain, name);
  return true;
}

bool tell_component(uct_component_h component, const void* caller) {
  if (is_told(component)) return false;
  auto* const query = original_query.get(caller);
  uct_component_attr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
  if (query != nullptr && query(component, &attributes) == UCS_OK) {
    tell(component, attributes.name);
  }
  return true;
}

}  // namespace uctrace::uct

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t uct_md_open(uct_component_h component, const char* name,
                                        const uct_md_config_t* config, uct_md_h* domain) {
  interpose::look_for_patched_ucx();
  const ucs_status_t status =
      uct::original_open.get(__builtin_return_address(0))(component, name, config, domain);
  if (status == UCS_OK) {
    uct::remember_domain(*domain, name);
    uct::forget(*domain);
  }
  return status;
}
