// Which values the rows of a run have where a filter can ask for them (Facet). A merge keeps them
// with the run, so that a filter is made, and a wrong value refused, without a pass over the rows.
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

// Those of a run: what it keeps. Of a run that keeps none they are found when they are asked for.
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
