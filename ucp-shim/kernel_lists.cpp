// Lists of memory that kernels on a GPU may put to and get from by themselves (UCX 1.20): which
// buffers, at which end of which endpoint. What kernels then move is not seen.
#include <ucp/api/ucp.h>

#include <cstring>

#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "uct-shim/kernel_access.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;
using Function = log::MemoryFunction;

// ucp_device_mem_list_elem_t and _params_t: no header of UCX before 1.20 has them. In 1.21 an
// element got an endpoint of its own, and the parameters a worker in front of the elements.
struct Element {
  enum Field : std::uint64_t { kLocal = 4, kRemote = 8, kLength = 16, kEndpoint = 32 };
  std::uint64_t field_mask;
  ucp_mem_h memory;
  void* local;
  std::size_t length;
  std::uint64_t remote;
  ucp_rkey_h key;
  ucp_ep_h endpoint;
};
struct Parameters {
  enum Field : std::uint64_t { kElements = 1, kElementSize = 2, kCount = 4 };
  std::uint64_t field_mask;
  std::size_t element_size;
  std::size_t count;
  const void* elements_or_worker;
  const void* elements;
};

using CreateForEndpoint = ucs_status_t (*)(ucp_ep_h, const Parameters*, void**);
using Create = ucs_status_t (*)(const Parameters*, void**);
using Release = void (*)(void*);

constinit Original<CreateForEndpoint> original_create{"ucp_device_mem_list_create"};
constinit Original<Create> original_create_local{"ucp_device_local_mem_list_create"};
constinit Original<Create> original_create_remote{"ucp_device_remote_mem_list_create"};
constinit Original<Release> original_release{"ucp_device_mem_list_release"};

// Fields that the caller's UCX does not know are missing from its elements.
Element element_at(const void* elements, std::size_t place, std::size_t bytes) {
  Element element{};
  memcpy(&element, static_cast<const char*>(elements) + place * bytes,
         bytes < sizeof element ? bytes : sizeof element);
  return element;
}

void define_elements(Function function, const Parameters& parameters, const void* elements,
                     ucp_ep_h endpoint, std::uint64_t handle) {
  constexpr std::uint64_t kAll =
      Parameters::kElements | Parameters::kElementSize | Parameters::kCount;
  if ((parameters.field_mask & kAll) != kAll || elements == nullptr) return;
  for (std::size_t i = 0; i < parameters.count; ++i) {
    const Element element = element_at(elements, i, parameters.element_size);
    if (element.field_mask == 0) continue;  // a gap in the list
    const auto has = [&](Element::Field field) { return (element.field_mask & field) != 0; };
    const ucp_ep_h own = has(Element::kEndpoint) ? element.endpoint : endpoint;
    uct::define_kernel_access(function,
                              {.handle = handle,
                               .endpoint = uct::number_of(own),
                               .local = has(Element::kLocal) ? uct::number_of(element.local) : 0,
                               .remote = has(Element::kRemote) ? element.remote : 0,
                               .bytes = has(Element::kLength) ? element.length : 0});
  }
}

// Where the parameters of the caller's UCX keep the elements.
using ElementsIn = const void* Parameters::*;

// `original` creates the list. `endpoint`: for elements that have none of their own.
template <typename CallOriginal>
ucs_status_t create(Function function, const void* caller, CallOriginal original,
                    const Parameters* parameters, ElementsIn elements, ucp_ep_h endpoint,
                    void** list) {
  uct::MemoryCall call(function, caller);
  const ucs_status_t status = original();
  const std::uint64_t handle = status == UCS_OK ? uct::number_of(*list) : 0;
  call.done(status, {.key = handle});
  if (status == UCS_OK && call.is_recorded()) {
    define_elements(function, *parameters, parameters->*elements, endpoint, handle);
  }
  return status;
}

ucs_status_t create(Function function, Original<Create>& original, const void* caller,
                    const Parameters* parameters, void** list) {
  const auto call = [&] { return uct::call_if_there(original.get(caller), parameters, list); };
  return create(function, caller, call, parameters, &Parameters::elements, nullptr, list);
}

}  // namespace

}  // namespace uctrace::ucp

using namespace uctrace;
using Function = log::MemoryFunction;

UCTRACE_EXPORT ucs_status_t ucp_device_mem_list_create(ucp_ep_h endpoint,
                                                       const ucp::Parameters* parameters,
                                                       void** list) {
  const void* caller = __builtin_return_address(0);
  const auto call = [&] {
    return uct::call_if_there(ucp::original_create.get(caller), endpoint, parameters, list);
  };
  return ucp::create(Function::ucp_device_mem_list_create, caller, call, parameters,
                     &ucp::Parameters::elements_or_worker, endpoint, list);
}

UCTRACE_EXPORT ucs_status_t ucp_device_local_mem_list_create(const ucp::Parameters* parameters,
                                                             void** list) {
  const void* caller = __builtin_return_address(0);
  return ucp::create(Function::ucp_device_local_mem_list_create, ucp::original_create_local, caller,
                     parameters, list);
}

UCTRACE_EXPORT ucs_status_t ucp_device_remote_mem_list_create(const ucp::Parameters* parameters,
                                                              void** list) {
  const void* caller = __builtin_return_address(0);
  return ucp::create(Function::ucp_device_remote_mem_list_create, ucp::original_create_remote,
                     caller, parameters, list);
}

UCTRACE_EXPORT void ucp_device_mem_list_release(void* list) {
  const void* caller = __builtin_return_address(0);
  uct::MemoryCall call(Function::ucp_device_mem_list_release, caller);
  if (auto* original = ucp::original_release.get(caller)) original(list);
  call.done(UCS_OK, {.key = uct::number_of(list)});
}
