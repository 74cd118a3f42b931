#include "log-merger/page-data/chosen_rows.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace uctrace {
namespace {

// The places of the chosen rows, in the order of their table, so that each part of it is read once.
std::vector<std::size_t> in_table_order(const DetailChoice::Numbers& chosen) {
  std::vector<std::size_t> order(chosen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return chosen[a] < chosen[b]; });
  return order;
}

}  // namespace

template <typename Row>
void ChosenRows::read(const VisitDetail<Row>& visit) const {
  const DetailChoice::Numbers& chosen = chosen_.of(table_of(Row()));
  RowWindow<Row> rows(source_, Wanted<Row>::all());
  for (const std::size_t place : in_table_order(chosen)) {
    visit(rows.row(chosen[place]), chosen[place], place);
  }
}

template void ChosenRows::read(const VisitDetail<MpiCallRow>&) const;
template void ChosenRows::read(const VisitDetail<UcpOperationRow>&) const;
template void ChosenRows::read(const VisitDetail<Transfer>&) const;
template void ChosenRows::read(const VisitDetail<Message>&) const;

void ChosenRows::each_path(const VisitPath& visit) const {
  Paths paths(source_, Wanted<Hop>::all());
  read<Message>([&](const Message& message, std::size_t, std::size_t place) {
    visit(message, paths(message), place);
  });
}

}  // namespace uctrace
