#include "log-merger/live/metric_families.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace uctrace::live {
namespace {

using LabelList = std::vector<MetricLabel>;
using LabelNames = std::vector<std::string_view>;
using Families = std::vector<MetricFamily>;

// Buckets of sizes end with that of 2^40 - 1 bytes. They never change: a bucket that appears later
// would look like new messages.
constexpr std::size_t kBuckets = 41;

// Prometheus has its own label `job`, and would rename ours.
constexpr std::string_view kJobLabel = "job_id";

class Builder {
 public:
  explicit Builder(const JobCounters& counters) : counters_(counters) {}

  Families build() {
    add_pairs();
    add_sizes();
    add_series(counters_.transports(), {"transport", "device", "operation"},
               {.name = "uctrace_transport_operations", .help = "Operations that UCT was handed."},
               {.name = "uctrace_transport_bytes",
                .unit = "bytes",
                .help = "Bytes that UCT was handed, headers included."});
    add_series(counters_.gpus(), {"host", "gpu", "bus", "memory", "data"},
               {.name = "uctrace_gpu_operations",
                .help = "Operations of UCP whose data lay in memory of a GPU."},
               {.name = "uctrace_gpu_bytes",
                .unit = "bytes",
                .help = "Bytes that these sent from there, or received into it."});
    add_series(counters_.functions(), {"function"},
               {.name = "uctrace_mpi_calls", .help = "Calls of an MPI function."},
               {.name = "uctrace_mpi_call_bytes",
                .unit = "bytes",
                .help = "Bytes that calls of an MPI function sent."});
    add_series(counters_.communicators(), {"communicator", "size", "kind"},
               {.name = "uctrace_collective_calls",
                .help = "Collective calls, counted by each rank as Open MPI's monitoring does."},
               {.name = "uctrace_collective_call_bytes",
                .unit = "bytes",
                .help = "Bytes that collective calls sent."});
    add_losses();
    add_waiting();
    add_processes();
    add_left_out();
    return std::move(families_);
  }

 private:
  struct Named {
    std::string name;
    std::string_view unit = {};
    std::string help;
  };

  MetricFamily& add_family(MetricType type, const Named& named) {
    families_.push_back(
        {.name = named.name, .type = type, .unit = named.unit, .help = named.help, .samples = {}});
    return families_.back();
  }

  LabelList labels(LabelList more = {}) const {
    more.insert(more.begin(), {.name = kJobLabel, .value = counters_.job()});
    return more;
  }

  void add_gauge(const Named& named, MetricNumber value) {
    add_family(MetricType::gauge, named).samples.push_back({.labels = labels(), .value = value});
  }

  // One family of counts and one of bytes. `labels_of` makes the labels of a key.
  template <typename Key, typename LabelsOf>
  void add_totals(const LimitedSeries<Key>& series, const Named& count, const Named& bytes,
                  LabelsOf labels_of) {
    MetricFamily counts, sizes;
    for (const auto* sums : {&series.told(), &series.rest()}) {
      for (const auto& [key, sum] : *sums) {
        counts.samples.push_back({.labels = labels_of(key), .value = sum.messages});
        sizes.samples.push_back({.labels = labels_of(key), .value = sum.bytes});
      }
    }
    add_family(MetricType::counter, count).samples = std::move(counts.samples);
    add_family(MetricType::counter, bytes).samples = std::move(sizes.samples);
  }

  void add_series(const LimitedSeries<CountedLabels>& series, const LabelNames& names,
                  const Named& count, const Named& bytes) {
    add_totals(series, count, bytes, [&](const CountedLabels& values) {
      LabelList more;
      for (std::size_t i = 0; i < names.size(); ++i) more.push_back({names[i], values[i]});
      return labels(std::move(more));
    });
  }

  void add_pairs() {
    add_totals(
        counters_.pairs(),
        {.name = "uctrace_messages",
         .help = "Messages by class, by the rank or process that counted them, and by its peer."},
        {.name = "uctrace_payload_bytes", .unit = "bytes", .help = "Payload of these messages."},
        [&](const CountedPair& pair) {
          return labels({{"class", std::string(log::name_of(pair.which))},
                         {"rank", counters_.name_of(pair.rank)},
                         {"peer", counters_.name_of(pair.peer)}});
        });
  }

  void add_sizes() {
    MetricFamily& family = add_family(MetricType::histogram,
                                      {.name = "uctrace_message_size_bytes",
                                       .unit = "bytes",
                                       .help = "Sizes of messages by class, whoever the peer is."});
    for (const auto& [which, sizes] : counters_.sizes()) {
      const MetricLabel name = {"class", std::string(log::name_of(which))};
      const auto add = [&](std::string_view part, LabelList more, MetricNumber value) {
        family.samples.push_back({.labels = labels(std::move(more)), .value = value, .part = part});
      };
      MetricNumber below = 0;
      for (std::size_t bin = 0; bin < kBuckets; ++bin) {
        below += sizes.bins[bin];
        const std::uint64_t most = (std::uint64_t{1} << bin) - 1;
        add("_bucket", {name, {"le", fmt::format("{}.0", most)}}, below);
      }
      add("_bucket", {name, {"le", "+Inf"}}, sizes.total.messages);
      add("_sum", {name}, sizes.total.bytes);
      add("_count", {name}, sizes.total.messages);
    }
  }

  void add_losses() {
    const auto add = [&](const Named& named, MetricNumber value) {
      add_family(MetricType::counter, named).samples.push_back({labels(), value});
    };
    add({.name = "uctrace_unplaced_messages",
         .help = "What is in no other metric: there was no room, or nobody told how much came."},
        counters_.unplaced());
    add({.name = "uctrace_lost_names", .help = "Names for which there was no room in the job."},
        counters_.lost_names());
  }

  void add_waiting() {
    MetricFamily messages, bytes;
    for (std::size_t i = 0; i < log::kCounterClasses; ++i) {
      const ExactTotal& total = counters_.waiting()[i];
      const std::string name(log::name_of(static_cast<log::CounterClass>(i)));
      messages.samples.push_back({labels({{"class", name}}), total.messages});
      bytes.samples.push_back({labels({{"class", name}}), total.bytes});
    }
    add_family(MetricType::gauge,
               {.name = "uctrace_waiting_messages",
                .help = "Messages that are in uctrace_messages once both ends can be named, or "
                        "their process has ended."})
        .samples = std::move(messages.samples);
    add_family(MetricType::gauge, {.name = "uctrace_waiting_payload_bytes",
                                   .unit = "bytes",
                                   .help = "Payload of these messages."})
        .samples = std::move(bytes.samples);
  }

  void add_processes() {
    MetricFamily& family = add_family(
        MetricType::gauge,
        {.name = "uctrace_processes", .help = "Processes of the job by what is seen of them."});
    for (const ProcessState state : kProcessStates) {
      family.samples.push_back(
          {labels({{"state", std::string(name_of(state))}}), counters_.processes_in(state)});
    }
    add_gauge({.name = "uctrace_lagging_processes",
               .help = "Processes whose counters are read from a copy, up to 1 s old."},
              counters_.lagging());
    add_gauge({.name = "uctrace_missing_ranks",
               .help = "Ranks of the job without counters: they have not begun, or had no room."},
              counters_.missing_ranks());
    if (counters_.started_realtime_ns() != 0) {
      add_gauge({.name = "uctrace_job_start_time_seconds",
                 .unit = "seconds",
                 .help = "When the first process of the job began, since 1970."},
                counters_.started_realtime_ns() / 1'000'000'000);
    }
  }

  void add_left_out() {
    MetricFamily& family = add_family(
        MetricType::gauge,
        {.name = "uctrace_left_out_series",
         .help = "Pairs, communicators, ... that are summed in a series labelled other."});
    const std::pair<const char*, std::size_t> tables[] = {
        {"pairs", counters_.pairs().left_out()},
        {"transports", counters_.transports().left_out()},
        {"gpus", counters_.gpus().left_out()},
        {"functions", counters_.functions().left_out()},
        {"communicators", counters_.communicators().left_out()}};
    for (const auto& [name, count] : tables) {
      family.samples.push_back({labels({{"by", name}}), count});
    }
  }

  const JobCounters& counters_;
  Families families_;
};

}  // namespace

// Each family occurs once, with the samples of all jobs.
std::vector<MetricFamily> metric_families(const std::vector<const JobCounters*>& jobs) {
  Families all;
  std::map<std::string, std::size_t> place_of;  // by name
  for (const JobCounters* job : jobs) {
    if (!job->has_job()) continue;
    for (MetricFamily& family : Builder(*job).build()) {
      const auto [place, is_new] = place_of.try_emplace(family.name, all.size());
      if (is_new) {
        all.push_back(std::move(family));
        continue;
      }
      std::vector<MetricSample>& samples = all[place->second].samples;
      samples.insert(samples.end(), std::make_move_iterator(family.samples.begin()),
                     std::make_move_iterator(family.samples.end()));
    }
  }
  return all;
}

MetricFamily unread_files_family(std::size_t files) {
  return {.name = "uctrace_unread_files",
          .type = MetricType::gauge,
          .unit = {},
          .help = "Counter files that cannot be read now.",
          .samples = {{.labels = {}, .value = files}}};
}

MetricFamily build_info_family(const std::string& version) {
  return {.name = "uctrace_build",
          .type = MetricType::info,
          .unit = {},
          .help = "Which uctrace answers.",
          .samples = {{.labels = {{"version", version}}, .value = 1}}};
}

}  // namespace uctrace::live
