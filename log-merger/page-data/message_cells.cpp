#include "log-merger/page-data/message_cells.hpp"

#include <algorithm>

namespace uctrace {

namespace {

template <typename Row>
void add_served(const RowSource& source, DetailChoice::Numbers numbers,
                std::vector<std::size_t>& messages) {
  RowWindow<Row> rows(source, {&Row::message});
  std::sort(numbers.begin(), numbers.end());
  for (const std::size_t number : numbers) {
    const std::int64_t message = rows.row(number).message;
    if (message >= 0) messages.push_back(static_cast<std::size_t>(message));
  }
}

}  // namespace

MessageCells::MessageCells(const RowSource& source, const TrafficCells& cells,
                           const DetailChoice::Chosen& chosen)
    : messages_(chosen.of(RowsOf::messages)) {
  add_served<UcpOperationRow>(source, chosen.of(RowsOf::ucp_operations), messages_);
  add_served<Transfer>(source, chosen.of(RowsOf::transfers), messages_);
  std::sort(messages_.begin(), messages_.end());
  messages_.erase(std::unique(messages_.begin(), messages_.end()), messages_.end());
  RowWindow<Message> rows(source, TrafficCells::of_messages() | Paths::of_messages());
  Paths paths(source, TrafficCells::of_paths());
  for (const std::size_t number : messages_) {
    const Message& message = rows.row(number);
    cells_.push_back(cells.find(message, paths(message)).value_or(kNowhere));
  }
}

std::optional<std::uint32_t> MessageCells::operator()(std::int64_t message) const {
  if (message < 0) return std::nullopt;
  const auto at =
      std::lower_bound(messages_.begin(), messages_.end(), static_cast<std::size_t>(message));
  const std::uint32_t cell = cells_[static_cast<std::size_t>(at - messages_.begin())];
  return cell == kNowhere ? std::nullopt : std::optional(cell);
}

}  // namespace uctrace
