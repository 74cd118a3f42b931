#include "log-merger/load/load_datatypes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {

namespace {

const char* name_of(log::Combiner combiner) {
  static constexpr const char* kNames[] = {
      "unknown", "named",          "dup",        "contiguous", "vector",        "hvector",
      "hvector", "indexed",        "hindexed",   "hindexed",   "indexed_block", "struct",
      "struct",  "subarray",       "darray",     "f90_real",   "f90_complex",   "f90_integer",
      "resized", "hindexed_block", "value_index"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(log::Combiner::kCount));
  return kNames[static_cast<std::size_t>(combiner)];
}

}  // namespace

void DatatypeLoader::take(const log::DatatypeView& view) {
  Datatype datatype;
  datatype.name = job_.run.texts.intern(plain_text(view.name));
  datatype.combiner = job_.run.texts.intern(name_of(view.combiner()));
  datatype.size = view.r.size;
  datatype.extent = view.r.extent;
  datatype.contiguous = view.contiguous();
  const DatatypeIndex next(job_.run.datatypes.size());
  const auto [at, fresh] = job_.datatype_rows.try_emplace(
      {datatype.name, datatype.combiner, datatype.size, datatype.extent, datatype.contiguous},
      next);
  if (fresh) {
    job_.run.datatypes.push_back(datatype);
  }
  definitions_.push_back({view.r.handle, view.r.tick, UINT64_MAX, at->second});
}

void DatatypeLoader::take_end(std::uint64_t handle, std::uint64_t tick) {
  ends_.push_back({handle, tick});
}

void DatatypeLoader::finish() {
  sort_by_handle(definitions_);
  for (const End& end : ends_) {
    const auto at = row_at(definitions_, end.handle, end.tick);
    if (at != kNone) {
      definitions_[at].end_tick = end.tick;
    }
  }
}

// A definition has the start time of the call that made it. If several threads use a new datatype,
// another thread's call may have begun earlier: it then means the following definition, not the
// handle's earlier datatype.
DatatypeIndex DatatypeLoader::at(std::uint64_t handle, std::uint64_t tick) const {
  if (handle == 0) {
    return kNone;
  }
  const auto found = row_at(definitions_, handle, tick);
  if (found != kNone) {
    const Definition& definition = definitions_[found];
    if (definition.end_tick > tick) {
      return definition.row;
    }
  }
  const auto next = std::upper_bound(
      definitions_.begin(), definitions_.end(), std::pair{handle, tick},
      [](const std::pair<std::uint64_t, std::uint64_t>& wanted, const Definition& definition) {
        return wanted < std::pair{definition.handle, definition.tick};
      });
  return next != definitions_.end() && next->handle == handle ? next->row : kNone;
}

}  // namespace uctrace::merge
