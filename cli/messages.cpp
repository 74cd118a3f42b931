#include <fmt/format.h>

#include <iostream>
#include <utility>
#include <vector>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/reports/messages_output.hpp"

namespace uctrace::cli {
namespace {

Error no_message(std::uint64_t id, std::size_t messages) {
  return Error(
      {.what = fmt::format("--id {}", id),
       .why = messages == 0 ? "this run has no messages"
                            : fmt::format("this run has messages 0 to {}", messages - 1),
       .to_do = "take the number behind the # of a message, or its id in the other formats"});
}

// Sets which messages to print, if they are chosen by id or sorted.
void choose(const RowSource& rows, const Filter& filter, const MessagesCommand& command,
            MessagesOptions& options) {
  if (command.ids.empty()) {
    if (command.order == MessageOrder::time) return;
    SortedMessages sorted = sorted_messages(rows, filter, command.order, command.limit);
    options.ids = std::move(sorted.first);
    options.selected = sorted.selected;
    return;
  }
  const std::size_t messages = rows.count<Message>();
  for (const std::uint64_t id : command.ids) {
    if (id >= messages) throw no_message(id, messages);
  }
  options.ids = std::vector<MessageId>(command.ids.begin(), command.ids.end());
}

}  // namespace

int run(const MessagesCommand& command) {
  end_quietly_on_closed_pipe();
  FittedOutput fitted(std::cout, width_of_output(command.format, command.wide));
  tell_run(command.data, fitted, [&](std::ostream& out, const RowSource& rows) {
    const Filter filter(rows, command.filter);
    MessagesOptions options;
    options.format = command.format;
    options.limit = command.limit;
    if (!command.ids.empty()) options.detail = Detail::full;
    choose(rows, filter, command, options);
    write_messages(out, rows, filter, options);
  });
  return kOk;
}

}  // namespace uctrace::cli
