#include "log-merger/reports/counter_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>

#include "event-log/reader/error.hpp"
#include "log-merger/folder/new_file.hpp"

namespace uctrace {
namespace {

namespace fs = std::filesystem;
using log::CounterCell;
using log::CounterClass;
using log::CounterKind;
using log::CounterMatrix;
using log::CounterSnapshot;
using log::CounterTotal;

constexpr char kProfStart[] = "# POINT TO POINT\n";
constexpr char kNumbersStart[] = "number\tname\n";

std::string joined(const log::SizeBins& bins) { return fmt::format("{}", fmt::join(bins, ",")); }

// What the files are made of.
struct Counted {
  explicit Counted(const std::vector<CounterSnapshot>& counted)
      : job(counted), sides(job), matrix(log::matrix_of(job, sides)), numbers(job, sides, matrix) {}

  const std::vector<CounterSnapshot>& job;
  const log::CountedSides sides;
  const CounterMatrix matrix;
  const log::SideNumbers numbers;
};

// The profile of one process.
class CountedProfile {
 public:
  CountedProfile(const Counted& counted, std::size_t process)
      : counted_(counted),
        process_(process),
        self_(counted.sides.of(process)),
        number_(counted.numbers.of(self_)) {}

  // The histogram is of all messages to a peer, as in Open MPI's: it stands once, in the first line
  // about the peer.
  std::string text() {
    text_ = kProfStart;
    add_lines(CounterClass::external, 'E', [&](const auto& pair, const CounterCell& cell) {
      log::SizeBins bins = cell.bins;
      if (const CounterCell* below = find(CounterClass::internal, pair)) {
        for (std::size_t i = 0; i < bins.size(); ++i) bins[i] += below->bins[i];
      }
      return "\t" + joined(bins);
    });
    add_lines(CounterClass::internal, 'I', [&](const auto& pair, const CounterCell& cell) {
      const bool told = find(CounterClass::external, pair) != nullptr;
      return told ? std::string() : "\t" + joined(cell.bins);
    });
    const auto nothing = [](const auto&, const CounterCell&) { return std::string(); };
    text_ += "# OSC\n";
    add_lines(CounterClass::one_sided_sent, 'S', nothing);
    add_lines(CounterClass::one_sided_received, 'R', nothing);
    text_ += "# COLLECTIVES\n";
    add_lines(CounterClass::collective, 'C', nothing);
    add_communicators();
    return std::move(text_);
  }

 private:
  const CounterCell* find(CounterClass which, const log::SidePair& pair) const {
    const auto& cells = counted_.matrix.of(which);
    const auto found = cells.find(pair);
    return found != cells.end() && found->second.total.messages != 0 ? &found->second : nullptr;
  }

  // Lines of one class, in the order of peers.
  template <typename Ending>
  void add_lines(CounterClass which, char letter, Ending ending) {
    const auto& cells = counted_.matrix.of(which);
    std::map<std::int32_t, std::string> lines;
    for (auto it = cells.lower_bound({self_, log::CountedSide{.rank = 0, .process = 0}});
         it != cells.end() && it->first.first == self_; ++it) {
      const auto& [pair, cell] = *it;
      if (cell.total.messages == 0 || !pair.second.is_known()) continue;
      const std::int32_t peer = counted_.numbers.of(pair.second);
      lines[peer] = fmt::format("{}\t{}\t{}\t{} bytes\t{} msgs sent{}\n", letter, number_, peer,
                                cell.total.bytes, cell.total.messages, ending(pair, cell));
    }
    for (const auto& [peer, line] : lines) text_ += line;
  }

  void add_communicators();
  std::vector<std::int32_t> members_of(const log::CountedCommunicator& comm) const;

  const Counted& counted_;
  const std::size_t process_;
  const log::CountedSide self_;
  const std::int32_t number_;
  std::string text_;
};

struct CollectiveSums {
  CounterTotal one_to_all, all_to_one, all_to_all;
};

void CountedProfile::add_communicators() {
  const CounterSnapshot& process = counted_.job[process_];
  std::map<std::uint32_t, CollectiveSums> sums;
  for (const auto& [key, total] : process.rows) {
    const auto number = static_cast<std::uint32_t>(log::subject_of(key));
    switch (log::kind_of(key)) {
      case CounterKind::one_to_all:
        sums[number].one_to_all += total;
        break;
      case CounterKind::all_to_one:
        sums[number].all_to_one += total;
        break;
      case CounterKind::all_to_all:
        sums[number].all_to_all += total;
        break;
      default:
        break;
    }
  }
  for (const auto& [number, sum] : sums) {
    const auto found = process.communicators.find(number);
    const log::CountedCommunicator comm =
        found != process.communicators.end() ? found->second : log::CountedCommunicator{};
    // A name of the program may hold anything; a line is a line.
    std::string label = comm.label.empty() ? "(no-name)" : comm.label;
    for (char& c : label) c = c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
    text_ += fmt::format("D\t{}\tprocs: {}\n", label, fmt::join(members_of(comm), ","));
    for (const auto& [name, total] :
         {std::pair{"O2A", sum.one_to_all}, std::pair{"A2O", sum.all_to_one},
          std::pair{"A2A", sum.all_to_all}}) {
      text_ += fmt::format("{}\t{}\t{} bytes\t{} msgs sent\n", name, number_, total.bytes,
                           total.messages);
    }
  }
}

// Their numbers, as far as anything but this list knows them: that of a rank without counters to
// which nothing was sent is its rank.
std::vector<std::int32_t> CountedProfile::members_of(const log::CountedCommunicator& comm) const {
  std::vector<std::int32_t> members = comm.members();
  for (std::int32_t& member : members) {
    member = counted_.numbers.find(counted_.sides.member(process_, member)).value_or(member);
  }
  return members;
}

bool begins_with(const fs::path& path, std::string_view start) {
  std::ifstream file(path, std::ios::binary);
  std::string text(start.size(), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return static_cast<std::size_t>(file.gcount()) == start.size() && text == start;
}

bool is_prof(const fs::path& path) { return begins_with(path, kProfStart); }

bool is_matrix(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  return !line.empty() && line.find_first_not_of("0123456789 ") == std::string::npos;
}

// `is_ours`: what may lie there already.
template <typename IsOurs>
void write_file(const fs::path& path, const std::string& text, IsOurs is_ours) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error)) && !is_ours(path)) {
    throw Error({.what = "cannot write '" + path.string() + "'",
                 .why = "something else lies there",
                 .to_do = "choose another name"});
  }
  try {
    NewFile file(path);
    file.write(text);
    file.publish();
  } catch (const std::system_error& problem) {
    throw Error({.what = "cannot write '" + path.string() + "'",
                 .why = why_not_written(problem),
                 .to_do = "choose another name"});
  }
}

void write_numbers(const fs::path& beside, const Counted& counted) {
  if (counted.numbers.renumbered().empty()) return;
  std::string text = kNumbersStart;
  for (const auto& [number, side] : counted.numbers.renumbered()) {
    text += fmt::format("{}\t{}\n", number, counted.sides.label(side));
  }
  write_file(beside.string() + ".numbers.tsv", text,
             [](const fs::path& path) { return begins_with(path, kNumbersStart); });
}

std::string matrix_text(const std::vector<std::vector<double>>& square) {
  std::string text;
  for (const auto& row : square) {
    for (const double cell : row) text += fmt::format("{:.0f} ", cell);
    text += '\n';
  }
  return text;
}

bool is_empty(const CounterMatrix& matrix, const std::vector<CounterClass>& classes) {
  return std::all_of(classes.begin(), classes.end(),
                     [&](CounterClass which) { return matrix.of(which).empty(); });
}

}  // namespace

std::size_t write_profs(const fs::path& prefix, const std::vector<CounterSnapshot>& job) {
  const Counted counted(job);
  for (const auto& [number, process] : counted.numbers.processes()) {
    write_file(fmt::format("{}.{}.prof", prefix.string(), number),
               CountedProfile(counted, process).text(), is_prof);
  }
  write_numbers(prefix, counted);
  return counted.numbers.processes().size();
}

void write_gathered(const fs::path& file, const std::vector<CounterSnapshot>& job) {
  const Counted counted(job);
  std::string text;
  for (const auto& [number, process] : counted.numbers.processes()) {
    text += CountedProfile(counted, process).text();
  }
  write_file(file, text, is_prof);
  write_numbers(file, counted);
}

std::vector<std::string> write_matrices(const fs::path& prefix,
                                        const std::vector<CounterSnapshot>& job, bool symmetric) {
  constexpr std::int32_t kMostRanks = 8192;  // two squares of 512 MiB lie in memory then
  const Counted counted(job);
  if (counted.numbers.size() > kMostRanks) {
    throw Error({.what = fmt::format("cannot write matrices of {} ranks", counted.numbers.size()),
                 .why = fmt::format("they are written whole, for {} ranks at most", kMostRanks),
                 .to_do = "take `uctrace counters --by pairs --format csv`"});
  }
  using Classes = std::vector<CounterClass>;
  // The names are those of profile2mat.pl.
  const std::pair<const char*, Classes> kinds[] = {
      {"all",
       {CounterClass::external, CounterClass::internal, CounterClass::one_sided_sent,
        CounterClass::one_sided_received, CounterClass::collective}},
      {"external", {CounterClass::external}},
      {"internal", {CounterClass::internal}},
      {"osc", {CounterClass::one_sided_sent, CounterClass::one_sided_received}},
      {"coll", {CounterClass::collective}}};
  std::vector<std::string> written;
  for (const auto& [name, classes] : kinds) {
    if (is_empty(counted.matrix, classes)) continue;
    for (const auto& [what, of] :
         {std::pair{"msg", log::MatrixOf::messages}, std::pair{"size", log::MatrixOf::bytes},
          std::pair{"avg", log::MatrixOf::average}}) {
      written.push_back(
          fmt::format("{}{}_{}_{}.mat", prefix.string(), symmetric ? "" : "_directed", what, name));
      const auto square = log::square_of(counted.matrix, counted.numbers, classes, of, symmetric);
      write_file(written.back(), matrix_text(square), is_matrix);
    }
  }
  write_numbers(prefix, counted);
  return written;
}

}  // namespace uctrace
