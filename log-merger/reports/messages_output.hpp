// The output of `uctrace messages`: each selected message with the path of its data.
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

// A message's id is its row in `messages`: the same in every format and selection.
using MessageId = std::size_t;

// A message with everything printed about it.
struct MessageWithPath {
  MessageId id;
  const Message& message;
  std::span<const Hop> path;
  // For full detail: its registration calls, and the endpoints that it used first.
  std::span<const MemoryCallRow> memory_calls = {};
  std::span<const ConnectionRow> connections = {};
};

// For a person: a line that says who sent what, then a line for each hop.
std::string receipt(const Run& run, const Labels& labels, const MessageWithPath& told);

// The same with all known facts, in sentences.
std::string full_receipt(const Run& run, const Labels& labels, const MessageWithPath& told);

enum class Detail : std::uint8_t { brief, full };

// For a program: all keys of the contract in its order, null where unknown.
nlohmann::ordered_json message_json(const Run& run, const MessageWithPath& told);

// `time`: as in the run. The others: largest first.
enum class MessageOrder : std::uint8_t { time, wait, duration, bytes };

// The first of the selected messages in some order, and the number selected.
struct SortedMessages {
  std::vector<MessageId> first;
  std::size_t selected;
};

// The first `limit` of them. Takes 16 bytes of memory per selected message.
SortedMessages sorted_messages(const RowSource& source, const Filter& filter, MessageOrder order,
                               std::optional<std::size_t> limit);

struct MessagesOptions {
  Format format = Format::table;
  std::optional<std::size_t> limit = {};
  Detail detail = Detail::brief;  // for people: other formats always have everything
  std::optional<std::vector<MessageId>> ids = {};  // only these, in this order
  std::optional<std::size_t> selected = {};        // the total, if `ids` are only the first
};

// Prints the selected messages one at a time: messages that are not shown cost no memory and, if
// their number is not printed, no time.
void write_messages(std::ostream& out, const RowSource& source, const Filter& filter,
                    const MessagesOptions& options);

}  // namespace uctrace
