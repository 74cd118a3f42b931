#include "log-merger/exports/otf2_messages.hpp"

#include <numeric>

namespace uctrace::exports {
namespace {

constexpr std::int32_t kNobody = -1;

std::int32_t asker_of(const Message& message) {
  if (message.src_process < 0 || message.dst_process < 0 || message.t_start_ns < 0) return kNobody;
  return message.initiator == Side::src ? message.src_process : message.dst_process;
}

std::int32_t receiver_of(const Message& message) {
  const bool has_receive = message.match != Match::unmatched &&
                           message.match != Match::outside_window && message.t_end_ns >= 0;
  if (!has_receive || is_one_sided(message.kind) || message.src_process < 0) return kNobody;
  return message.dst_process;
}

}  // namespace

MessagesOfProcesses::MessagesOfProcesses(const RowSource& source) {
  const std::size_t processes = source.run().processes.size();
  const Wanted<Message> wanted = {
      &Message::kind,        &Message::match,      &Message::initiator, &Message::src_process,
      &Message::dst_process, &Message::t_start_ns, &Message::t_end_ns};
  const auto visit_both = [&](const auto& visit) {
    for_each_row(source, wanted, [&](const Message& message, std::size_t number) {
      const auto add = [&](Lists& lists, std::int32_t process) {
        if (process != kNobody) visit(lists, static_cast<std::size_t>(process), number);
      };
      add(asked_, asker_of(message));
      add(received_, receiver_of(message));
    });
  };
  for (Lists* lists : {&asked_, &received_}) lists->first.assign(processes + 2, 0);
  // Counted two places behind their own, so that after the sum a list begins one behind its own;
  // filling moves each begin to its end, which is where the next one begins.
  visit_both([](Lists& lists, std::size_t process, std::size_t) { ++lists.first[process + 2]; });
  for (Lists* lists : {&asked_, &received_}) {
    std::partial_sum(lists->first.begin(), lists->first.end(), lists->first.begin());
    lists->messages.resize(lists->first.back());
  }
  visit_both([](Lists& lists, std::size_t process, std::size_t number) {
    lists.messages[lists.first[process + 1]++] = static_cast<std::uint32_t>(number);
  });
}

}  // namespace uctrace::exports
