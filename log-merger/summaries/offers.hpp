// Transports and devices that UCT offered to the processes of a run but UCX did not open, and why.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/summaries/settings.hpp"

namespace uctrace {

// One row for each transport and reason.
struct UnopenedTransport {
  TextId transport = kNoText;
  std::vector<TextId> devices;  // offered but not opened
  ProcessList processes;        // that left out at least one of them
  std::string why;              // "UCX_TLS=tcp,self leaves it out"
};
// Reads the settings of the processes: if no setting excludes a transport, it is UCP's own choice.
// Empty if no offers were recorded.
std::vector<UnopenedTransport> unopened_transports(const Run& run);

// Components of UCT that found no device in any process: "ib", without a network card of that kind.
std::vector<TextId> components_without_device(const Run& run);

// For one process: why it did not open the transport; "": not offered. nullopt: it did open it, or
// no offers were recorded.
std::optional<std::string> why_not_opened(const Run& run, std::string_view transport,
                                          std::int64_t process);

// Rows as settings_json() has them. Of `left_out` with `why`.
void add_offers_json(const Run& run, nlohmann::ordered_json& rows);
// Lines for a person.
void add_offer_lines(const Run& run, std::vector<std::string>& lines);

}  // namespace uctrace
