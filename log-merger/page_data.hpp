// The data of the web page (docs/page-data.md): every class of traffic with its sums, computed
// exactly from a run. Size: by the number of different classes and pairs, not of events.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "log-merger/model.hpp"

namespace uctrace {

inline constexpr int kPageSchema = 1;

nlohmann::ordered_json page_data(const Run& run);

// The page template with `data` as the content of its script element of id "uctrace-data". Throws
// Error if the template has no such element.
std::string insert_page_data(std::string_view page_template, const nlohmann::ordered_json& data);

}  // namespace uctrace
