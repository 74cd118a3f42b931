#include "log-merger/summaries/facets.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace uctrace {
namespace {

// Collects values, of which there are few, from many rows.
class Collected {
 public:
  explicit Collected(const Run& run) {
    for (auto& seen : texts_) seen.resize(run.texts.all().size());
  }

  void add(FacetOf of, TextId text) { texts_[static_cast<std::size_t>(of)][text] = true; }
  void add(FacetOf of, Party party) {
    parties_[static_cast<std::size_t>(of)].insert(
        std::uint64_t{static_cast<std::uint32_t>(party.rank)} << 32 |
        static_cast<std::uint32_t>(party.process));
  }

  std::vector<Facet> facets() const {
    std::vector<Facet> facets;
    for (std::size_t of = 0; of < kFacets; ++of) {
      for (TextId id = 0; id < texts_[of].size(); ++id) {
        if (texts_[of][id]) facets.push_back({static_cast<FacetOf>(of), id, -1, -1});
      }
      for (const std::uint64_t party : parties_[of]) {
        facets.push_back({static_cast<FacetOf>(of), kNoText, static_cast<std::int32_t>(party >> 32),
                          static_cast<std::int32_t>(party & UINT32_MAX)});
      }
    }
    std::sort(facets.begin(), facets.end());
    return facets;
  }

 private:
  static constexpr std::size_t kFacets = static_cast<std::size_t>(FacetOf::destination) + 1;

  std::array<std::vector<bool>, kFacets> texts_;  // by TextId
  std::array<std::unordered_set<std::uint64_t>, kFacets> parties_;
};

}  // namespace

std::vector<Facet> find_facets(const RowSource& source) {
  using M = Message;
  Collected found(source.run());
  for_each_row<M>(
      source, {&M::mpi, &M::comm, &M::protocol, &M::src, &M::src_process, &M::dst, &M::dst_process},
      [&](const M& message, std::size_t) {
        found.add(FacetOf::mpi, message.mpi);
        found.add(FacetOf::comm, message.comm);
        found.add(FacetOf::protocol, message.protocol);
        found.add(FacetOf::source, source_of(message));
        found.add(FacetOf::destination, destination_of(message));
      });
  for_each_row<MpiCallRow>(source, {&MpiCallRow::function, &MpiCallRow::comm},
                           [&](const MpiCallRow& call, std::size_t) {
                             found.add(FacetOf::called, call.function);
                             found.add(FacetOf::comm, call.comm);
                           });
  for_each_row<Hop>(source, {&Hop::transport, &Hop::op}, [&](const Hop& hop, std::size_t) {
    found.add(FacetOf::transport, hop.transport);
    found.add(FacetOf::op, hop.op);
  });
  using T = Transfer;
  for_each_row<T>(source, {&T::transport, &T::op, &T::message, &T::peer_process},
                  [&](const T& transfer, std::size_t) {
                    found.add(FacetOf::transport, transfer.transport);
                    found.add(FacetOf::op, transfer.op);
                    if (transfer.message < 0 && transfer.peer_process < 0) {
                      found.add(FacetOf::destination, Party{});
                    }
                  });
  return found.facets();
}

const std::vector<Facet>& Facets::all() const {
  if (!source_.run().facets.empty()) return source_.run().facets;
  if (found_.empty()) found_ = find_facets(source_);
  return found_;
}

std::set<TextId> Facets::texts(std::initializer_list<FacetOf> of) const {
  std::set<TextId> texts;
  for (const Facet& facet : all()) {
    if (std::find(of.begin(), of.end(), facet.of) != of.end()) texts.insert(facet.text);
  }
  return texts;
}

std::set<Party> Facets::parties(FacetOf end) const {
  std::set<Party> parties;
  for (const Facet& facet : all()) {
    if (facet.of == end) parties.insert({facet.rank, facet.process});
  }
  return parties;
}

}  // namespace uctrace
