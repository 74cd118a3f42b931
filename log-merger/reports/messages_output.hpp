// What `uctrace messages` prints: each selected message with the path its data took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// A message is known by its row of `messages`: the same id in every format and selection.
using MessageId = std::size_t;

// A message with what is told of it.
struct MessageWithPath {
  MessageId id;
  const Message& message;
  std::span<const Hop> path;
  // Where all is told: calls that made memory known for it, and endpoints it was the first to use.
  std::span<const MemoryCallRow> memory_calls = {};
  std::span<const ConnectionRow> connections = {};
};

// For a person: a line that says who sent what, then a line for each hop.
std::string receipt(const Run& run, const Labels& labels, const MessageWithPath& told);

// The same with all that is known, in sentences.
std::string full_receipt(const Run& run, const Labels& labels, const MessageWithPath& told);

enum class Detail : std::uint8_t { brief, full };

// For a program: all keys of the contract in its order, null where unknown.
nlohmann::ordered_json message_json(const Run& run, const MessageWithPath& told);

// `time`: as they stand in the run. The others: the greatest first.
enum class MessageOrder : std::uint8_t { time, wait, duration, bytes };

// Of the messages that a filter selects the first ones in some order, and how many it selects.
struct SortedMessages {
  std::vector<MessageId> first;
  std::size_t selected;
};

// The first `limit` of them. Takes 16 bytes of memory for each that the filter selects.
SortedMessages sorted_messages(const RowSource& source, const Filter& filter, MessageOrder order,
                               std::optional<std::size_t> limit);

struct MessagesOptions {
  Format format = Format::table;
  std::optional<std::size_t> limit = {};
  Detail detail = Detail::brief;  // for people: the other formats say all in any case
  std::optional<std::vector<MessageId>> ids = {};  // only these, in this order
  std::optional<std::size_t> selected = {};        // how many there are, where `ids` are the first
};

// Prints the messages that the filter selects, one at a time: neither memory nor, where nobody is
// told how many there are, time grows with those that are not shown.
void write_messages(std::ostream& out, const RowSource& source, const Filter& filter,
                    const MessagesOptions& options);

}  // namespace uctrace
