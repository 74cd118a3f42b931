// The values in a run's rows that a filter can select (Facet). A merge stores them with the run, so
// making a filter, or refusing a wrong value, needs no pass over the rows.
#pragma once

#include <initializer_list>
#include <set>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// Each once, in their order. Costs a pass over the rows.
std::vector<Facet> find_facets(const RowSource& source);

// The stored facets of a run. If it has none, they are found on demand.
class Facets {
 public:
  // Keeps a reference to the source.
  explicit Facets(const RowSource& source) : source_(source) {}

  std::set<TextId> texts(std::initializer_list<FacetOf> of) const;
  std::set<Party> parties(FacetOf end) const;

 private:
  const std::vector<Facet>& all() const;

  const RowSource& source_;
  mutable std::vector<Facet> found_;
};

}  // namespace uctrace
