// What `uctrace messages` prints: each selected message with the path its data took.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// A message is known by its place in Run::messages: the same id in every format and selection.
using MessageId = std::size_t;

std::vector<MessageId> selected_messages(const Run& run, const Filter& filter);

// For a person: a line that says who sent what, then a line for each hop.
std::string receipt(const Run& run, const Labels& labels, MessageId id);

// The same with all that is known, in sentences.
std::string full_receipt(const Run& run, const Labels& labels, MessageId id);

enum class Detail : std::uint8_t { brief, full };

// For a program: all keys of the contract in its order, null where unknown.
nlohmann::ordered_json message_json(const Run& run, MessageId id);

// Prints the first `limit` of `ids`, one at a time: memory does not grow with their number.
// `detail` is for people: the other formats say all in any case.
void write_messages(std::ostream& out, const Run& run, const std::vector<MessageId>& ids,
                    Format format, std::optional<std::size_t> limit, Detail detail = Detail::brief);

}  // namespace uctrace
