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

struct Counted {
  const std::vector<CounterSnapshot>& job;
  const log::CountedSides& sides;
  const CounterMatrix& matrix;
  const log::SideNumbers& numbers;
};

// The profile of one process.
class CountedProfile {
 public:
  CountedProfile(const Counted& counted, std::size_t process)
      : counted_(counted),
        process_(process),
        self_(counted.sides.of(process)),
        number_(counted.numbers.of(self_)) {}

  // The histogram covers all messages to a peer, as in Open MPI's: it appears once, in the peer's
  // first line.
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

  const Counted counted_;
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
    // The program's names may contain anything, also line ends; a line must stay one line.
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

std::vector<std::int32_t> CountedProfile::members_of(const log::CountedCommunicator& comm) const {
  std::vector<std::int32_t> members = comm.members();
  for (std::int32_t& member : members) {
    member = counted_.numbers.of(counted_.sides.member(process_, member));
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

// `is_ours`: which existing files may be replaced.
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

CounterExport::CounterExport(const std::vector<CounterSnapshot>& job)
    : job_(job),
      sides_(job),
      matrix_(log::matrix_of(job, sides_)),
      numbers_(job, sides_, matrix_) {}

// Before the files, so their readers know the numbers. If all numbers are ranks, an older list does
// no harm.
void CounterExport::write_numbers(const fs::path& beside) const {
  const fs::path path = beside.string() + ".numbers.tsv";
  std::error_code error;
  if (numbers_.renumbered().empty() && !fs::exists(fs::symlink_status(path, error))) return;
  std::string text = kNumbersStart;
  for (const auto& [number, side] : numbers_.renumbered()) {
    text += fmt::format("{}\t{}\n", number, sides_.label(side));
  }
  write_file(path, text, [](const fs::path& there) { return begins_with(there, kNumbersStart); });
}

std::size_t CounterExport::write_profs(const fs::path& prefix) const {
  write_numbers(prefix);
  for (const auto& [number, process] : numbers_.processes()) {
    write_file(fmt::format("{}.{}.prof", prefix.string(), number),
               CountedProfile({job_, sides_, matrix_, numbers_}, process).text(), is_prof);
  }
  return numbers_.processes().size();
}

void CounterExport::write_gathered(const fs::path& file) const {
  write_numbers(file);
  std::string text;
  for (const auto& [number, process] : numbers_.processes()) {
    text += CountedProfile({job_, sides_, matrix_, numbers_}, process).text();
  }
  write_file(file, text, is_prof);
}

void CounterExport::write_matrices(const fs::path& prefix, bool symmetric) const {
  constexpr std::int32_t kMostRanks = 8192;  // then two squares of 512 MiB are in memory
  if (numbers_.size() > kMostRanks) {
    throw Error({.what = fmt::format("cannot write matrices of {} ranks", numbers_.size()),
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
  write_numbers(prefix);
  for (const auto& [name, classes] : kinds) {
    if (is_empty(matrix_, classes)) continue;
    for (const auto& [what, of] :
         {std::pair{"msg", log::MatrixOf::messages}, std::pair{"size", log::MatrixOf::bytes},
          std::pair{"avg", log::MatrixOf::average}}) {
      const auto square = log::square_of(matrix_, numbers_, classes, of, symmetric);
      write_file(
          fmt::format("{}{}_{}_{}.mat", prefix.string(), symmetric ? "" : "_directed", what, name),
          matrix_text(square), is_matrix);
    }
  }
}

}  // namespace uctrace
