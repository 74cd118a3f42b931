#include "log-merger/summaries/names.hpp"

#include "log-merger/summaries/facets.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

RowsByName processes_by_rank(const Run& run) {
  RowsByName ranks;
  const Labels labels(run);
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    ranks.emplace(labels.of_processes()[i], static_cast<std::int32_t>(i));
  }
  return ranks;
}

RowsByName processes_by_host(const Run& run) {
  RowsByName hosts;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    hosts.emplace(run.texts[run.processes[i].host], static_cast<std::int32_t>(i));
  }
  return hosts;
}

RowsByName communicators_by_name(const Run& run) {
  RowsByName comms;
  for (std::size_t i = 0; i < run.communicators.size(); ++i) {
    const Communicator& comm = run.communicators[i];
    comms.emplace(run.texts[comm.name], static_cast<std::int32_t>(i));
    if (comm.user_name != kNoText && comm.user_name != comm.name) {
      comms.emplace(run.texts[comm.user_name], static_cast<std::int32_t>(i));
    }
  }
  return comms;
}

std::multimap<std::string, TextId> called_functions_by_name(const RowSource& source) {
  std::multimap<std::string, TextId> functions;
  for (const TextId id : Facets(source).texts({FacetOf::called})) {
    functions.emplace(source.run().texts[id], id);
  }
  return functions;
}

}  // namespace uctrace
