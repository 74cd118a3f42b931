#include "log-merger/summaries/run_values.hpp"

#include <set>

#include "log-merger/summaries/facets.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {
namespace {

using Values = std::set<std::string>;

Values of_facets(const RowSource& source, std::initializer_list<FacetOf> of) {
  Values values;
  for (const TextId id : Facets(source).texts(of)) {
    values.insert(id == kNoText ? "unknown" : source.run().texts[id]);
  }
  return values;
}

Values communicators(const RowSource& source) {
  const Run& run = source.run();
  Values values = of_facets(source, {FacetOf::comm});
  for (const Communicator& comm : run.communicators) values.insert(run.texts[comm.name]);
  return values;
}

Values ranks(const Run& run) {
  const Labels labels(run);
  return {labels.of_processes().begin(), labels.of_processes().end()};
}

Values hosts(const Run& run) {
  Values values;
  for (const Process& process : run.processes) values.insert(run.texts[process.host]);
  return values;
}

Values gpus(const Run& run) {
  Values values;
  for (const Gpu& gpu : run.gpus) values.insert(label_of(run, gpu));
  return values;
}

struct OptionValues {
  const char* option;
  Values (*values)(const RowSource& source);
};
constexpr OptionValues kSources[] = {
    {"mpi", [](const RowSource& s) { return of_facets(s, {FacetOf::mpi, FacetOf::called}); }},
    {"comm", communicators},
    {"protocol", [](const RowSource& s) { return of_facets(s, {FacetOf::protocol}); }},
    {"transport", [](const RowSource& s) { return of_facets(s, {FacetOf::transport}); }},
    {"op", [](const RowSource& s) { return of_facets(s, {FacetOf::op}); }},
    {"rank", [](const RowSource& s) { return ranks(s.run()); }},
    {"src", [](const RowSource& s) { return ranks(s.run()); }},
    {"dst", [](const RowSource& s) { return ranks(s.run()); }},
    {"host", [](const RowSource& s) { return hosts(s.run()); }},
    {"src-host", [](const RowSource& s) { return hosts(s.run()); }},
    {"dst-host", [](const RowSource& s) { return hosts(s.run()); }},
    {"gpu", [](const RowSource& s) { return gpus(s.run()); }}};

}  // namespace

std::vector<std::string> options_with_values() {
  std::vector<std::string> options;
  for (const OptionValues& one : kSources) options.emplace_back(one.option);
  return options;
}

std::vector<std::string> values_of_run(const RowSource& source, std::string_view option) {
  for (const OptionValues& one : kSources) {
    if (one.option != option) continue;
    const Values values = one.values(source);
    return {values.begin(), values.end()};
  }
  return {};
}

}  // namespace uctrace
