#include "tests/tracegen/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>

namespace uctrace::tracegen {
namespace {

constexpr std::array<const char*, kStepKinds> kStepNames = {
    "nonblocking", "persistent", "sendrecv",    "blocking", "probe",    "wildcard",
    "cancel",      "collective", "icollective", "rma",      "am",       "stream",
    "shared_tag",  "am_shared",  "partitioned", "file",     "connected"};

constexpr std::uint64_t kSlotBytes = 64 * 1024;  // in which a log of bounded size is written

constexpr std::array<const char*, kComms> kCommNames = {"world", "duplicate", "parity", "inter",
                                                        "spawned"};

constexpr std::array<const char*, 4> kFaultNames = {"cut", "unclosed", "dropped", "missing"};

struct Option {
  const char* name;
  const char* value;
  const char* text;
  std::function<void(Options&, const std::string&)> take;
};

template <typename Number>
Number number(const std::string& text, Number least,
              Number most = std::numeric_limits<Number>::max()) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw UsageError(fmt::format("'{}' is no number from {} to {}; give one", text, least, most));
  }
  return value;
}

template <typename Value>
Value one_of(const std::string& text, std::initializer_list<std::pair<const char*, Value>> known) {
  std::string names;
  for (const auto& [name, value] : known) {
    if (text == name) return value;
    names += std::string(names.empty() ? "" : ", ") + name;
  }
  throw UsageError(fmt::format("'{}' is none of: {}", text, names));
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// "KIND=WEIGHT,...": kinds that are not named keep theirs; "only" in front sets all others to 0.
void take_mix(Options& options, const std::string& text) {
  for (const std::string& part : split(text, ',')) {
    if (part == "only") {
      options.weights.fill(0);
      continue;
    }
    const auto pair = split(part, '=');
    const auto kind = std::find(kStepNames.begin(), kStepNames.end(), pair[0]);
    if (kind == kStepNames.end() || pair.size() != 2) {
      throw UsageError(fmt::format("'{}' is no KIND=WEIGHT; --help lists the kinds", part));
    }
    options.weights[static_cast<std::size_t>(kind - kStepNames.begin())] =
        number<std::uint32_t>(pair[1], 0, 1'000'000);
  }
}

// "NAME,...", each as often as it is named.
void take_comms(Options& options, const std::string& text) {
  options.comms.clear();
  for (const std::string& part : split(text, ',')) {
    const auto comm = std::find(kCommNames.begin(), kCommNames.end(), part);
    if (comm == kCommNames.end()) {
      throw UsageError(fmt::format("'{}' is none of: {}", part, fmt::join(kCommNames, ", ")));
    }
    options.comms.push_back(static_cast<Comm>(comm - kCommNames.begin()));
  }
}

// "KIND:RANK[:AMOUNT]"
void take_fault(Options& options, const std::string& text) {
  const auto parts = split(text, ':');
  const auto kind = std::find(kFaultNames.begin(), kFaultNames.end(), parts[0]);
  if (kind == kFaultNames.end() || parts.size() < 2 || parts.size() > 3) {
    throw UsageError(fmt::format("'{}' is no KIND:RANK[:AMOUNT]; --help lists the kinds", text));
  }
  Fault fault{};
  fault.kind = static_cast<Fault::Kind>(kind - kFaultNames.begin());
  fault.rank = number<std::int32_t>(parts[1], 0);
  const std::uint64_t otherwise = fault.kind == Fault::Kind::cut ? 1000 : 3;
  fault.amount = parts.size() == 3 ? number<std::uint64_t>(parts[2], 1) : otherwise;
  options.faults.push_back(fault);
}

// "FROM:TO[:LAG]", in the order of time.
void take_window(Options& options, const std::string& text) {
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) {
    throw UsageError(fmt::format("'{}' is no FROM:TO[:LAG] of steps", text));
  }
  constexpr std::uint64_t kMost = 1'000'000'000;
  const std::uint64_t least =
      options.windows.empty() ? 0 : options.windows.back().to + options.windows.back().lag + 1;
  RecordedSteps window;
  window.from = number<std::uint64_t>(parts[0], least, kMost);
  window.to = number<std::uint64_t>(parts[1], window.from + 1, kMost);
  if (parts.size() == 3) window.lag = number<std::uint64_t>(parts[2], 0, window.to - window.from);
  options.windows.push_back(window);
}

void take_sizes(Options& options, const std::string& text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2) throw UsageError(fmt::format("'{}' is no MIN:MAX of bytes", text));
  constexpr std::uint64_t kMost = 1 << 30;
  options.min_bytes = number<std::uint64_t>(parts[0], 0, kMost);
  options.max_bytes = number<std::uint64_t>(parts[1], options.min_bytes, kMost);
}

const std::vector<Option>& all_options() {
  using Text = const std::string&;
  static const std::vector<Option> list = {
      {"-o", "DIR", "the folder to write; it must not exist, or be empty",
       [](Options& o, Text v) { o.folder = v; }},
      {"--processes", "P", "processes of the job [4]",
       [](Options& o, Text v) { o.processes = number<std::int32_t>(v, 1, 16384); }},
      {"--events", "N", "events of the whole job, about [10000]",
       [](Options& o, Text v) { o.events = number<std::uint64_t>(v, 0, 1'000'000'000'000); }},
      {"--seed", "S", "makes another job of the same kind [1]",
       [](Options& o, Text v) { o.seed = number<std::uint64_t>(v, 0); }},
      {"--hosts", "H", "hosts, each with a clock of its own [one for 8 processes, at least 2]",
       [](Options& o, Text v) { o.hosts = number<std::int32_t>(v, 1, 4096); }},
      {"--lanes", "L", "threads of a process that communicate [1]",
       [](Options& o, Text v) { o.lanes = number<std::int32_t>(v, 1, 16); }},
      {"--cards", "C", "network cards of a host [1]",
       [](Options& o, Text v) { o.cards = number<std::int32_t>(v, 1, 8); }},
      {"--gpus", "G", "GPUs of every second host, from the first on [0]",
       [](Options& o, Text v) { o.gpus = number<std::int32_t>(v, 0, 16); }},
      {"--mpi", "NAME", "mpich or openmpi [mpich]",
       [](Options& o, Text v) {
         o.mpi = one_of<Mpi>(v, {{"mpich", Mpi::mpich}, {"openmpi", Mpi::open_mpi}});
       }},
      {"--protocols", "V", "of UCP: v1, or v2, which tells their names [v1]",
       [](Options& o, Text v) {
         o.protocols = one_of<int>(v, {{"v1", 1}, {"v2", 2}});
       }},
      {"--network", "NAME", "rc_mlx5, dc_mlx5 or tcp [rc_mlx5]",
       [](Options& o, Text v) {
         o.network = one_of<Network>(
             v,
             {{"rc_mlx5", Network::rc_mlx5}, {"dc_mlx5", Network::dc_mlx5}, {"tcp", Network::tcp}});
       }},
      {"--matching", "WHERE", "of tags between hosts: software, or interface [software]",
       [](Options& o, Text v) {
         o.tag_offload = one_of<bool>(v, {{"software", false}, {"interface", true}});
       }},
      {"--stacks", "WHOSE", "call stacks: off, callers, mpi or all [off]",
       [](Options& o, Text v) {
         o.stacks = one_of<Stacks>(v, {{"off", Stacks::off},
                                       {"callers", Stacks::callers},
                                       {"mpi", Stacks::mpi},
                                       {"all", Stacks::all}});
       }},
      {"--sizes", "MIN:MAX", "bytes of a message [0:262144]", take_sizes},
      {"--burst", "B", "messages to each neighbour in a step [1]",
       [](Options& o, Text v) { o.burst = number<std::int32_t>(v, 1, 1024); }},
      {"--drift", "PPB", "how far the rates of hosts' clocks are off at most [20000]",
       [](Options& o, Text v) { o.drift_ppb = number<std::int32_t>(v, 0, 100'000); }},
      {"--skew", "NS", "how far hosts' wall clocks are off at most [50000000]",
       [](Options& o, Text v) { o.skew_ns = number<std::int64_t>(v, 0, 3'600'000'000'000); }},
      {"--round-trip", "NS", "of the measurements of clocks [3000]",
       [](Options& o, Text v) { o.round_trip_ns = number<std::int64_t>(v, 100, 10'000); }},
      {"--comms", "NAME,...", "on which messages are: world, duplicate, parity, inter, spawned",
       take_comms},
      {"--spawn", "N", "processes that the others start: a second MPI_COMM_WORLD [0]",
       [](Options& o, Text v) { o.spawned = number<std::int32_t>(v, 0, 4096); }},
      {"--mix", "KIND=WEIGHT,...", "how often steps of a kind come; `only,` first: no others",
       take_mix},
      {"--fault", "KIND:RANK[:AMOUNT]",
       "cut (bytes), unclosed, dropped (steps) or missing: what is wrong with a log", take_fault},
      {"--window", "FROM:TO[:LAG]",
       "steps in which events are recorded; odd ranks follow LAG steps later", take_window},
      {"--max-log", "BYTES", "of the newest events of a process, which alone are kept",
       [](Options& o, Text v) {
         o.max_log_bytes = number<std::uint64_t>(v, 4 * kSlotBytes, 1 << 30);
       }},
      {"--threads", "T", "that write logs [1]",
       [](Options& o, Text v) { o.threads = number<unsigned>(v, 1, 256); }},
      {"--truth", "WHAT", "totals, full, or auto: full up to --truth-limit messages [auto]",
       [](Options& o, Text v) {
         o.truth = one_of<TruthDetail>(v, {{"auto", TruthDetail::automatic},
                                           {"totals", TruthDetail::totals},
                                           {"full", TruthDetail::full}});
       }},
      {"--truth-limit", "M", "messages [200000]",
       [](Options& o, Text v) { o.truth_limit = number<std::uint64_t>(v, 0); }},
  };
  return list;
}

void check(const Options& options) {
  if (options.folder.empty()) throw UsageError("no folder to write; give one with -o DIR");
  std::uint64_t sum = 0;
  for (const std::uint32_t weight : options.weights) sum += weight;
  if (sum == 0) throw UsageError("all weights of --mix are 0; give one that is not");
  if (options.uses(Comm::spawned) && options.spawned == 0) {
    throw UsageError("--comms names spawned, and there are none; give a number with --spawn");
  }
  if (options.tag_offload && options.network == Network::tcp) {
    throw UsageError("tcp does not match tags; name another --network");
  }
  const std::int32_t processes = options.processes + options.spawned;
  for (const Fault& fault : options.faults) {
    if (fault.rank >= processes) {
      throw UsageError(
          fmt::format("--fault names rank {}, and there are {} processes", fault.rank, processes));
    }
  }
}

}  // namespace

const char* name_of(StepKind kind) { return kStepNames[static_cast<std::size_t>(kind)]; }
const char* name_of(Fault::Kind kind) { return kFaultNames[static_cast<std::size_t>(kind)]; }

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--help" || arguments[i] == "-h") {
      options.help = true;
      return options;
    }
    const auto& list = all_options();
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const Option& o) { return arguments[i] == o.name; });
    if (found == list.end()) {
      throw UsageError(fmt::format("there is no option '{}'; --help lists them", arguments[i]));
    }
    if (i + 1 == arguments.size()) {
      throw UsageError(fmt::format("{} lacks its {}", found->name, found->value));
    }
    found->take(options, arguments[++i]);
  }
  if (options.hosts == 0) {
    options.hosts = options.processes < 4 ? 1 : std::max(2, options.processes / 8);
  }
  options.hosts = std::min(options.hosts, options.processes);
  check(options);
  return options;
}

std::string help_text() {
  std::string text =
      "uctrace-tracegen -o DIR [OPTION VALUE]...\n"
      "Writes the logs of a job that never ran, and in DIR/truth.json what it did.\n\n";
  for (const Option& option : all_options()) {
    text +=
        fmt::format("  {:<34}{}\n", fmt::format("{} {}", option.name, option.value), option.text);
  }
  text += "\nKinds of steps:";
  for (const char* name : kStepNames) text += fmt::format(" {}", name);
  return text + "\n";
}

}  // namespace uctrace::tracegen
