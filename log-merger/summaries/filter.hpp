// Which messages and transfers a report covers, with the same meaning as on the page: kind, match,
// mpi, comm, protocol, src, dst, rank, host, the byte limits and the time choose messages (rank and
// host: either end; time: when the message started, with all that it caused later); transport, op
// and role choose hops, and messages that have at least one chosen hop (all three must fit the same
// hop). Values of one criterion are alternatives, criteria are all required. src-host and dst-host
// choose messages by the host of one end, src-memory and dst-memory by the memory there, gpu by the
// GPU of either end. The value `unknown` selects undetermined values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// One end of a message: the process of the data, or only its rank, or neither.
struct Party {
  std::int32_t rank = -1;
  std::int32_t process = -1;
  auto operator<=>(const Party&) const = default;
};

inline Party source_of(const Message& message) { return {message.src, message.src_process}; }
inline Party destination_of(const Message& message) { return {message.dst, message.dst_process}; }

// The time of a message for time spans: its start; if not recorded, its end or the post of its
// receive. -1 = not known.
inline std::int64_t time_of(const Message& message) {
  if (message.t_start_ns >= 0) return message.t_start_ns;
  return message.t_end_ns >= 0 ? message.t_end_ns : message.t_posted_recv_ns;
}

// Names of processes for a person: the world rank if it identifies one process, else
// "rank@host:pid" or "host:pid"; "unknown" for nothing.
class Labels {
 public:
  explicit Labels(const Run& run);
  std::string operator()(Party party) const;
  const std::vector<std::string>& of_processes() const { return labels_; }

 private:
  std::vector<std::string> labels_;
};

// Throws Error: the value of --option is none of `known`, which the run has.
[[noreturn]] void refuse_value(const std::string& value, const char* option,
                               const std::set<std::string>& known);

// Commas separate the values of an option, but a program may name a communicator with commas. So
// the longest sequence of values that forms a name of the run is taken as that name.
template <typename Known>
std::vector<std::string> with_commas(const std::vector<std::string>& asked, const Known& known) {
  std::vector<std::string> names;
  for (std::size_t first = 0; first < asked.size();) {
    std::string name = asked[first], longest = name;
    std::size_t next = first + 1;
    for (std::size_t last = next; last < asked.size(); ++last) {
      name += ',';
      const auto longer = known.lower_bound(name);
      if (longer == known.end() || !longer->first.starts_with(name)) break;
      name += asked[last];
      if (!known.contains(name)) continue;
      longest = name;
      next = last + 1;
    }
    names.push_back(longest);
    first = next;
  }
  return names;
}

// Looks up every value of --option among the known names; no values = no choice. Throws Error for a
// value that does not occur in the run.
template <typename Value>
std::optional<std::set<Value>> choose(const std::vector<std::string>& asked, const char* option,
                                      const std::multimap<std::string, Value>& known) {
  if (asked.empty()) return std::nullopt;
  std::set<Value> chosen;
  for (const std::string& name : with_commas(asked, known)) {
    const auto [first, last] = known.equal_range(name);
    if (first == last) {
      std::set<std::string> names;
      for (const auto& entry : known) names.insert(entry.first);
      refuse_value(name, option, names);
    }
    for (auto it = first; it != last; ++it) chosen.insert(it->second);
  }
  return chosen;
}

// Throws Error if the span cannot contain anything of the run.
void require_span(const Run& run, std::optional<std::uint64_t> from_ns,
                  std::optional<std::uint64_t> to_ns);

class Facets;

struct FilterSpec {
  std::vector<std::string> kind, match, mpi, comm, protocol, src, dst, rank, host;
  std::vector<std::string> src_host, dst_host;
  std::vector<std::string> src_memory, dst_memory;
  std::vector<std::string> gpu;  // host/uuid, uuid or bus
  std::vector<std::string> transport, op, role;
  std::optional<std::uint64_t> min_bytes, max_bytes;
  std::optional<std::uint64_t> from_ns, to_ns;  // [from, to) on the job clock
  bool skip_first = false;  // leave out the first message of each pair of processes
};

// A criterion with named values: declared once here, for options, help and errors.
struct NamedCriterion {
  const char* name;  // of the option, without its dashes
  std::vector<std::string> FilterSpec::*asked;
  const char* meaning;
  std::vector<std::string> (*values)() = nullptr;  // nullptr: those of the run
  bool takes_beginnings = false;  // "rndv" selects "rndv/get/zcopy" and all others of rndv
};
template <const auto& kValues>
std::vector<std::string> names_of_all() {
  std::vector<std::string> names;
  for (const auto value : kValues) names.emplace_back(name_of(value));
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name != "unknown"; });
  return names;
}
inline constexpr NamedCriterion kNamedCriteria[] = {
    {"kind", &FilterSpec::kind, "Kinds of messages", names_of_all<kMessageKinds>},
    {"match", &FilterSpec::match, "How sends were joined with receives", names_of_all<kMatches>},
    {"mpi", &FilterSpec::mpi, "MPI functions that asked"},
    {"comm", &FilterSpec::comm, "Communicators"},
    {"protocol", &FilterSpec::protocol, "UCP protocols, or what they begin with: rndv", nullptr, true},
    {"src", &FilterSpec::src, "Source ranks: where the data lay"},
    {"dst", &FilterSpec::dst, "Destination ranks: where it went"},
    {"rank", &FilterSpec::rank, "Ranks, of either end"},
    {"host", &FilterSpec::host, "Hosts, of either end"},
    {"src-host", &FilterSpec::src_host, "Hosts where the data lay"},
    {"dst-host", &FilterSpec::dst_host, "Hosts where it went"},
    {"src-memory", &FilterSpec::src_memory, "Memory that the data left",
     names_of_all<kMemoryKinds>},
    {"dst-memory", &FilterSpec::dst_memory, "Memory that it reached", names_of_all<kMemoryKinds>},
    {"gpu", &FilterSpec::gpu, "GPUs of either end: HOST/UUID, UUID or PCI address"},
    {"transport", &FilterSpec::transport, "UCT transports on the path, or what they begin with", nullptr,
     true},
    {"op", &FilterSpec::op, "UCT operations on the path, or what they begin with: get", nullptr, true},
    {"role", &FilterSpec::role, "Roles of transfers on the path", names_of_all<kRoles>}};

class Filter {
 public:
  // Keeps a reference to the run of `source`. Throws Error for a value that the run does not have;
  // the error lists those it has.
  Filter(const RowSource& source, const FilterSpec& spec);

  // The members of messages and hops needed by the tests below.
  Wanted<Message> of_messages() const;
  Wanted<Hop> of_paths() const;

  // No criteria for messages and hops: all fit.
  bool takes_all() const { return !of_messages().any() && !of_paths().any(); }

  // Sums are enough for this filter: no times, and no lengths within a size class.
  bool can_ask_sums() const;

  // Message criteria only.
  bool accepts(const Message& message) const;
  // Hop criteria only.
  bool accepts(const Hop& hop) const;
  // Both, as in tables of messages. `path`: the hops of the message.
  bool selects(const Message& message, std::span<const Hop> path) const;
  // For a transfer that serves no message: it has no kind, function, communicator, protocol,
  // length or memory of a message, so none of those may be asked for. Its source is its process,
  // its destination the peer.
  bool accepts_without_message(const Transfer& transfer) const;
  // For an MPI call: only possible with functions and communicators as criteria.
  std::optional<bool> accepts(const MpiCallRow& call) const;
  bool can_choose_calls() const;

 private:
  using TextSet = std::optional<std::vector<bool>>;  // by TextId; nullopt = all
  using PartySet = std::optional<std::set<Party>>;

  bool hop_fits(TextId transport, TextId op, Role role) const;
  bool memory_fits(const Message& message) const;
  bool has_memory_criteria() const { return src_memory_ || dst_memory_ || gpu_; }
  bool hosts_fit(std::int32_t src_process, std::int32_t dst_process) const;
  bool rank_fits(Party source, Party destination) const;
  bool time_fits(std::int64_t time_ns) const;
  bool has_hop_criteria() const;

  const Run& run_;
  void choose_communicators(const Facets& facets, const std::vector<std::string>& asked);
  bool comm_fits(TextId comm, std::int32_t communicator) const;

  // Like `comm_` for displayed names, but for the communicators' own names.
  std::optional<std::set<std::int32_t>> communicators_;
  TextSet mpi_, comm_, protocol_, host_, transport_, op_;
  TextSet src_host_, dst_host_;
  PartySet src_, dst_, rank_;
  std::optional<std::set<MessageKind>> kind_;
  std::optional<std::set<Match>> match_;
  std::optional<std::set<Role>> role_;
  std::optional<std::set<MemoryKind>> src_memory_, dst_memory_;
  std::optional<std::set<std::int32_t>> gpu_;  // into Run::gpus
  std::optional<std::uint64_t> min_bytes_, max_bytes_, from_ns_, to_ns_;
  bool skip_first_ = false;
};

}  // namespace uctrace
