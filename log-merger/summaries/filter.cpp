#include "log-merger/summaries/filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "event-log/reader/error.hpp"
#include "log-merger/model/size_class.hpp"
#include "log-merger/model/suggestion.hpp"
#include "log-merger/summaries/facets.hpp"
#include "log-merger/summaries/run_facts.hpp"

namespace uctrace {
namespace {

constexpr const char* kUnknown = "unknown";
constexpr std::size_t kListedValues = 24;

using KnownTexts = std::multimap<std::string, TextId>;
using AskedOf = std::vector<std::string> FilterSpec::*;

const NamedCriterion& criterion_of(AskedOf asked) {
  return *std::find_if(std::begin(kNamedCriteria), std::end(kNamedCriteria),
                       [&](const NamedCriterion& one) { return one.asked == asked; });
}

const char* option_of(AskedOf asked) { return criterion_of(asked).name; }

// A value that is not a name but a prefix of names, up to a word boundary, selects these.
template <typename Known>
std::vector<std::string> with_beginnings(const std::vector<std::string>& asked,
                                         const Known& known) {
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    const std::size_t before = names.size();
    for (auto at = known.lower_bound(name); !known.contains(name) && at != known.end(); ++at) {
      const std::string& longer = at->first;
      if (!longer.starts_with(name)) break;
      if (std::isalnum(static_cast<unsigned char>(longer[name.size()])) == 0) {
        names.push_back(longer);
      }
    }
    if (names.size() == before) names.push_back(name);
  }
  return names;
}

KnownTexts texts_by_name(const Texts& texts, const std::set<TextId>& ids) {
  KnownTexts known;
  for (const TextId id : ids) known.emplace(id == kNoText ? kUnknown : texts[id], id);
  return known;
}

KnownTexts hosts_by_name(const Run& run) {
  std::set<TextId> hosts;
  for (const Process& process : run.processes) hosts.insert(process.host);
  return texts_by_name(run.texts, hosts);
}

// `known_texts` returns the run's values; called only if needed.
template <typename Known>
std::optional<std::vector<bool>> choose_texts(const Texts& texts, const Known& known_texts,
                                              const std::vector<std::string>& asked,
                                              const NamedCriterion& criterion) {
  if (asked.empty()) return std::nullopt;
  const KnownTexts known = known_texts();
  const auto chosen = choose(criterion.takes_beginnings ? with_beginnings(asked, known) : asked,
                             criterion.name, known);
  std::vector<bool> set(texts.all().size());
  for (const TextId id : *chosen) set[id] = true;
  return set;
}

template <typename Value, std::size_t N>
std::multimap<std::string, Value> by_name(const Value (&values)[N]) {
  std::multimap<std::string, Value> names;
  for (const Value value : values) names.emplace(name_of(value), value);
  return names;
}

// By all names of a GPU; several on different hosts may share a bus address.
std::multimap<std::string, std::int32_t> gpus_by_name(const Run& run) {
  std::multimap<std::string, std::int32_t> names;
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const Gpu& gpu = run.gpus[i];
    for (const std::string& name : {label_of(run, gpu), run.texts[gpu.uuid], run.texts[gpu.bus]}) {
      names.emplace(name, static_cast<std::int32_t>(i));
    }
  }
  return names;
}

// `ends`: further parties besides the processes of the run.
std::optional<std::set<Party>> choose_parties(const Run& run, const Labels& labels,
                                              const Facets& facets,
                                              std::initializer_list<FacetOf> ends,
                                              const std::vector<std::string>& asked,
                                              const char* option) {
  if (asked.empty()) return std::nullopt;
  std::set<Party> parties;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    parties.insert({run.processes[i].rank, static_cast<std::int32_t>(i)});
  }
  for (const FacetOf end : ends) parties.merge(facets.parties(end));
  std::multimap<std::string, Party> known;
  for (const Party& party : parties) known.emplace(labels(party), party);
  return choose(asked, option, known);
}

bool fits(const std::optional<std::vector<bool>>& set, TextId id) { return !set || (*set)[id]; }

bool fits(const std::optional<std::set<Party>>& set, Party party) {
  return !set || set->contains(party);
}

}  // namespace

void refuse_value(const std::string& value, const char* option,
                  const std::set<std::string>& known) {
  std::vector<std::string> listed(known.begin(), known.end());
  const std::size_t total = listed.size();
  listed.resize(std::min(total, kListedValues));
  std::string have = fmt::format("{}", fmt::join(listed, ", "));
  if (total > listed.size()) have += fmt::format(", ... ({} in all)", total);
  const bool none = total == 0;
  const std::string nearest = did_you_mean(value, {known.begin(), known.end()});
  const std::string choose =
      nearest.empty() ? "choose among these" : nearest + " If not, choose among these";
  throw Error({.what = fmt::format("--{} {}", option, value),
               .why = none ? "this run has no values for it" : "this run has " + have,
               .to_do = none ? "leave the option out" : choose});
}

namespace {

// 1500000000 -> "1.5s": exact, and what --from takes.
std::string seconds(std::uint64_t ns) {
  std::string text = fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "s";
}

}  // namespace

void require_span(const Run& run, std::optional<std::uint64_t> from_ns,
                  std::optional<std::uint64_t> to_ns) {
  if (from_ns && to_ns && *from_ns >= *to_ns) {
    throw Error({.what = fmt::format("--from {} --to {}", seconds(*from_ns), seconds(*to_ns)),
                 .why = "--from is not before --to: nothing lies between them",
                 .to_do = "swap them, or leave one out"});
  }
  if (!from_ns) return;
  const std::uint64_t last_ns = facts_of(run).duration_ns;
  if (*from_ns > last_ns && last_ns > 0) {
    throw Error(
        {.what = fmt::format("--from {}", seconds(*from_ns)),
         .why = fmt::format("the run ends at {}: nothing lies behind that", seconds(last_ns)),
         .to_do = "take an earlier time"});
  }
}

Labels::Labels(const Run& run) {
  std::map<std::int32_t, int> processes_of_rank;
  for (const Process& process : run.processes) ++processes_of_rank[process.rank];
  for (const Process& process : run.processes) {
    std::string label = fmt::format("{}:{}", run.texts[process.host], process.pid);
    if (process.rank >= 0) {
      label = processes_of_rank[process.rank] == 1 ? std::to_string(process.rank)
                                                   : fmt::format("{}@{}", process.rank, label);
    }
    labels_.push_back(std::move(label));
  }
}

std::string Labels::operator()(Party party) const {
  if (party.process >= 0) return labels_[static_cast<std::size_t>(party.process)];
  return party.rank >= 0 ? std::to_string(party.rank) : kUnknown;
}

Filter::Filter(const RowSource& source, const FilterSpec& spec)
    : run_(source.run()),
      min_bytes_(spec.min_bytes),
      max_bytes_(spec.max_bytes),
      from_ns_(spec.from_ns),
      to_ns_(spec.to_ns),
      skip_first_(spec.skip_first) {
  require_span(run_, from_ns_, to_ns_);
  if (min_bytes_.value_or(0) > max_bytes_.value_or(UINT64_MAX)) {
    throw Error({.what = fmt::format("--min-bytes {} --max-bytes {}", *min_bytes_, *max_bytes_),
                 .why = "the least is greater than the greatest: no message has such a length",
                 .to_do = "swap them, or leave one out"});
  }
  const Texts& texts = run_.texts;
  const Facets facets(source);
  const auto choose_facets = [&](std::initializer_list<FacetOf> of, AskedOf asked) {
    return choose_texts(
        texts, [&] { return texts_by_name(texts, facets.texts(of)); }, spec.*asked,
        criterion_of(asked));
  };
  const auto choose_hosts = [&](AskedOf asked) {
    return choose_texts(
        texts, [&] { return hosts_by_name(run_); }, spec.*asked, criterion_of(asked));
  };
  const auto choose_value = [&](AskedOf asked, const auto& known) {
    return choose(spec.*asked, option_of(asked), known);
  };
  const Labels labels(run_);
  const auto choose_ends = [&](std::initializer_list<FacetOf> ends, AskedOf asked) {
    return choose_parties(run_, labels, facets, ends, spec.*asked, option_of(asked));
  };
  using Spec = FilterSpec;
  mpi_ = choose_facets({FacetOf::mpi, FacetOf::called}, &Spec::mpi);
  choose_communicators(facets, spec.comm);
  protocol_ = choose_facets({FacetOf::protocol}, &Spec::protocol);
  host_ = choose_hosts(&Spec::host);
  src_host_ = choose_hosts(&Spec::src_host);
  dst_host_ = choose_hosts(&Spec::dst_host);
  transport_ = choose_facets({FacetOf::transport}, &Spec::transport);
  op_ = choose_facets({FacetOf::op}, &Spec::op);
  kind_ = choose_value(&Spec::kind, by_name(kMessageKinds));
  match_ = choose_value(&Spec::match, by_name(kMatches));
  role_ = choose_value(&Spec::role, by_name(kRoles));
  src_memory_ = choose_value(&Spec::src_memory, by_name(kMemoryKinds));
  dst_memory_ = choose_value(&Spec::dst_memory, by_name(kMemoryKinds));
  gpu_ = choose_value(&Spec::gpu, gpus_by_name(run_));
  src_ = choose_ends({FacetOf::source}, &Spec::src);
  dst_ = choose_ends({FacetOf::destination}, &Spec::dst);
  rank_ = choose_ends({FacetOf::source, FacetOf::destination}, &Spec::rank);
}

// A communicator may have two names: the program's, which may be shared, and its unique one.
void Filter::choose_communicators(const Facets& facets, const std::vector<std::string>& asked) {
  if (asked.empty()) return;
  struct Named {
    std::optional<TextId> text;
    std::int32_t communicator = -1;
    auto operator<=>(const Named&) const = default;
  };
  std::multimap<std::string, Named> known;
  for (const auto& [name, id] : texts_by_name(run_.texts, facets.texts({FacetOf::comm}))) {
    known.emplace(name, Named{id});
  }
  for (std::size_t i = 0; i < run_.communicators.size(); ++i) {
    known.emplace(run_.texts[run_.communicators[i].name],
                  Named{std::nullopt, static_cast<std::int32_t>(i)});
  }
  const auto chosen = choose(asked, option_of(&FilterSpec::comm), known);
  comm_.emplace(run_.texts.all().size());
  communicators_.emplace();
  for (const Named& named : *chosen) {
    if (named.text) {
      (*comm_)[*named.text] = true;
    } else {
      communicators_->insert(named.communicator);
    }
  }
}

bool Filter::comm_fits(TextId comm, std::int32_t communicator) const {
  return !comm_ || (*comm_)[comm] || communicators_->contains(communicator);
}

bool Filter::hosts_fit(std::int32_t src_process, std::int32_t dst_process) const {
  const auto is_on = [&](const TextSet& chosen, std::int32_t process) {
    return !chosen ||
           (process >= 0 && (*chosen)[run_.processes[static_cast<std::size_t>(process)].host]);
  };
  return (is_on(host_, src_process) || is_on(host_, dst_process)) &&
         is_on(src_host_, src_process) && is_on(dst_host_, dst_process);
}

bool Filter::rank_fits(Party source, Party destination) const {
  return !rank_ || rank_->contains(source) || rank_->contains(destination);
}

bool Filter::memory_fits(const Message& message) const {
  return (!src_memory_ || src_memory_->contains(message.src_memory)) &&
         (!dst_memory_ || dst_memory_->contains(message.dst_memory)) &&
         (!gpu_ || gpu_->contains(message.src_gpu) || gpu_->contains(message.dst_gpu));
}

// Rows without a known time are in no time span.
bool Filter::time_fits(std::int64_t time_ns) const {
  if (!from_ns_ && !to_ns_) return true;
  const auto time = static_cast<std::uint64_t>(time_ns);
  return time_ns >= 0 && time >= from_ns_.value_or(0) && time < to_ns_.value_or(UINT64_MAX);
}

bool Filter::hop_fits(TextId transport, TextId op, Role role) const {
  return fits(transport_, transport) && fits(op_, op) && (!role_ || role_->contains(role));
}

bool Filter::has_hop_criteria() const { return transport_ || op_ || role_; }

bool Filter::accepts(const Message& message) const {
  return (!kind_ || kind_->contains(message.kind)) &&
         (!match_ || match_->contains(message.match)) && fits(mpi_, message.mpi) &&
         comm_fits(message.comm, message.communicator) && fits(protocol_, message.protocol) &&
         fits(src_, source_of(message)) && fits(dst_, destination_of(message)) &&
         rank_fits(source_of(message), destination_of(message)) &&
         hosts_fit(message.src_process, message.dst_process) && memory_fits(message) &&
         time_fits(time_of(message)) && message.bytes >= min_bytes_.value_or(0) &&
         message.bytes <= max_bytes_.value_or(UINT64_MAX) && !(skip_first_ && message.first);
}

bool Filter::accepts(const Hop& hop) const { return hop_fits(hop.transport, hop.op, hop.role); }

bool Filter::selects(const Message& message, std::span<const Hop> path) const {
  if (!accepts(message)) return false;
  return !has_hop_criteria() ||
         std::any_of(path.begin(), path.end(), [&](const Hop& hop) { return accepts(hop); });
}

Wanted<Message> Filter::of_messages() const {
  using M = Message;
  Wanted<M> wanted;
  const auto add = [&](bool asked, const Wanted<M>& members) {
    if (asked) wanted |= members;
  };
  add(kind_.has_value(), {&M::kind});
  add(match_.has_value(), {&M::match});
  add(mpi_.has_value(), {&M::mpi});
  add(comm_.has_value(), {&M::comm, &M::communicator});
  add(protocol_.has_value(), {&M::protocol});
  add(src_ || rank_, {&M::src, &M::src_process});
  add(dst_ || rank_, {&M::dst, &M::dst_process});
  add(host_ || src_host_ || dst_host_, {&M::src_process, &M::dst_process});
  add(src_memory_ || gpu_, {&M::src_memory, &M::src_gpu});
  add(dst_memory_ || gpu_, {&M::dst_memory, &M::dst_gpu});
  add(from_ns_ || to_ns_, {&M::t_start_ns, &M::t_end_ns, &M::t_posted_recv_ns});
  add(min_bytes_ || max_bytes_, {&M::bytes});
  add(skip_first_, {&M::first});
  return wanted;
}

bool Filter::can_ask_sums() const {
  return !match_ && !from_ns_ && !to_ns_ && !skip_first_ &&
         is_between_classes(min_bytes_.value_or(0)) &&
         is_between_classes(max_bytes_.value_or(UINT64_MAX) + 1);
}

Wanted<Hop> Filter::of_paths() const {
  return has_hop_criteria() ? Wanted<Hop>{&Hop::transport, &Hop::op, &Hop::role} : Wanted<Hop>();
}

bool Filter::accepts_without_message(const Transfer& transfer) const {
  if (kind_ || match_ || mpi_ || comm_ || protocol_ || min_bytes_ || max_bytes_ || skip_first_ ||
      has_memory_criteria()) {
    return false;
  }
  const auto party = [&](std::int32_t process) {
    return process < 0 ? Party{}
                       : Party{run_.processes[static_cast<std::size_t>(process)].rank, process};
  };
  const auto process = static_cast<std::int32_t>(transfer.process);
  return fits(src_, party(process)) && fits(dst_, party(transfer.peer_process)) &&
         rank_fits(party(process), party(transfer.peer_process)) &&
         time_fits(transfer.t_start_ns) && hosts_fit(process, transfer.peer_process) &&
         hop_fits(transfer.transport, transfer.op, transfer.role);
}

bool Filter::can_choose_calls() const {
  return !(kind_ || match_ || protocol_ || src_ || dst_ || rank_ || host_ || src_host_ ||
           dst_host_ || min_bytes_ || max_bytes_ || skip_first_ || has_memory_criteria() ||
           has_hop_criteria());
}

std::optional<bool> Filter::accepts(const MpiCallRow& call) const {
  if (!can_choose_calls()) return std::nullopt;
  return fits(mpi_, call.function) && comm_fits(call.comm, call.communicator) &&
         time_fits(call.t_start_ns);
}

}  // namespace uctrace
