// The cells of messages that are listed one by one, or that listed operations serve.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "log-merger/page-data/page_choice.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

class MessageCells {
 public:
  // Reads these messages, and their neighbours, but no others.
  MessageCells(const RowSource& source, const TrafficCells& cells,
               const DetailChoice::Chosen& chosen);

  // nullopt: no cell counts it, or there is no message.
  std::optional<std::uint32_t> operator()(std::int64_t message) const;

 private:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  std::vector<std::size_t> messages_;  // ascending
  std::vector<std::uint32_t> cells_;   // of each, or kNowhere
};

}  // namespace uctrace
