// Members of Run::info_json, which may be absent, null or of another type: a layer may be off.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "log-merger/model/model.hpp"

namespace uctrace::summaries {

// An object; empty if the run has none.
nlohmann::ordered_json parsed_info(const Run& run);

// "" or null if there is no such member.
std::string text_of(const nlohmann::ordered_json& object, const char* key);
const nlohmann::ordered_json& member(const nlohmann::ordered_json& object, const char* key);

}  // namespace uctrace::summaries
