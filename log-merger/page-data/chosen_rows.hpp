// Rows that were chosen by their numbers, read from the run when they are asked for.
#pragma once

#include "log-merger/page-data/detail_rows.hpp"
#include "log-merger/page-data/message_cells.hpp"
#include "log-merger/page-data/page_choice.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

class ChosenRows final : public DetailRows {
 public:
  // The caller keeps `chosen` alive.
  ChosenRows(const RowSource& source, const TrafficCells& cells, const DetailChoice::Chosen& chosen)
      : source_(source), chosen_(chosen), cell_of_message_(source, cells, chosen) {}

  std::size_t count(RowsOf table) const override { return chosen_.of(table).size(); }
  void each(const VisitDetail<MpiCallRow>& visit) const override { read(visit); }
  void each(const VisitDetail<UcpOperationRow>& visit) const override { read(visit); }
  void each(const VisitDetail<Transfer>& visit) const override { read(visit); }
  void each(const VisitDetail<Message>& visit) const override { read(visit); }
  void each_path(const VisitPath& visit) const override;
  std::optional<std::uint32_t> cell_of(std::int64_t message) const override {
    return cell_of_message_(message);
  }

 private:
  template <typename Row>
  void read(const VisitDetail<Row>& visit) const;

  const RowSource source_;
  const DetailChoice::Chosen& chosen_;
  const MessageCells cell_of_message_;
};

}  // namespace uctrace
