// JSON as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace uctrace {

// Always valid JSON text: bytes that are not UTF-8 (a program may name things as it likes) become
// U+FFFD.
inline std::string dump(const nlohmann::ordered_json& value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace uctrace
