#include "event-log/recorder/layers.hpp"

#include <stdlib.h>
#include <string.h>

namespace uctrace::log {

namespace {

constexpr struct {
  Layer layer;
  const char* name;
} kChoices[] = {
    {Layer::uct, "uct"}, {Layer::ucp, "ucp"}, {Layer::mpi, "mpi"}, {Layer::library, "library"}};

bool is_in_list(const char* name, const char* list) {
  const std::size_t length = strlen(name);
  for (const char* at = list; *at != '\0';) {
    const char* end = strchrnul(at, ',');
    if (static_cast<std::size_t>(end - at) == length && memcmp(at, name, length) == 0) {
      return true;
    }
    at = *end != '\0' ? end + 1 : end;
  }
  return false;
}

}  // namespace

void leave_out_unwanted_layers(ProcessPage& page) {
  const char* wanted = getenv("UCTRACE_LAYERS");
  if (wanted == nullptr || *wanted == '\0') {
    return;
  }
  for (const auto& choice : kChoices) {
    if (!is_in_list(choice.name, wanted)) {
      page.layers[static_cast<std::size_t>(choice.layer)] = LayerState::unwanted;
    }
  }
}

}  // namespace uctrace::log
