// Texts of a run in the page's JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/model/model.hpp"

namespace uctrace {

inline nlohmann::ordered_json text_or_null(const Run& run, TextId text) {
  return text == kNoText ? nlohmann::ordered_json(nullptr)
                         : nlohmann::ordered_json(run.texts[text]);
}

}  // namespace uctrace
