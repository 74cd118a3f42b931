#include "log-merger/reports/counter_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
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

constexpr std::string_view kProfStart = "# POINT TO POINT\n";

std::string joined(const log::SizeBins& bins) { return fmt::format("{}", fmt::join(bins, ",")); }

const CounterCell* find(const CounterMatrix& matrix, CounterClass which, log::RankPair pair) {
  const auto& cells = matrix.of(which);
  const auto found = cells.find(pair);
  return found != cells.end() && found->second.total.messages != 0 ? &found->second : nullptr;
}

// Lines of one class, in the order of peers.
template <typename Ending>
void write_lines(std::ostream& out, const CounterMatrix& matrix, CounterClass which, char letter,
                 std::int32_t rank, Ending ending) {
  const auto& cells = matrix.of(which);
  for (auto it = cells.lower_bound({rank, INT32_MIN}); it != cells.end() && it->first.first == rank;
       ++it) {
    const CounterTotal& total = it->second.total;
    if (total.messages == 0) continue;
    out << fmt::format("{}\t{}\t{}\t{} bytes\t{} msgs sent{}\n", letter, rank, it->first.second,
                       total.bytes, total.messages, ending(it->first, it->second));
  }
}

struct CollectiveSums {
  CounterTotal one_to_all, all_to_one, all_to_all;
};

void write_communicators(std::ostream& out, const CounterSnapshot& process) {
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
    out << fmt::format("D\t{}\tprocs: {}\n", label, fmt::join(comm.members(), ","));
    for (const auto& [name, total] :
         {std::pair{"O2A", sum.one_to_all}, std::pair{"A2O", sum.all_to_one},
          std::pair{"A2A", sum.all_to_all}}) {
      out << fmt::format("{}\t{}\t{} bytes\t{} msgs sent\n", name, process.rank(), total.bytes,
                         total.messages);
    }
  }
}

std::set<std::int32_t> ranks_of(const std::vector<CounterSnapshot>& job) {
  std::set<std::int32_t> ranks;
  for (const CounterSnapshot& process : job) {
    if (process.rank() >= 0) ranks.insert(process.rank());
  }
  return ranks;
}

bool begins_with(const fs::path& path, std::string_view start) {
  std::ifstream file(path, std::ios::binary);
  std::string text(start.size(), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return static_cast<std::size_t>(file.gcount()) == start.size() && text == start;
}

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

std::string prof_of(const std::vector<CounterSnapshot>& job, const CounterMatrix& matrix,
                    std::int32_t rank) {
  std::ostringstream text;
  write_prof(text, job, matrix, rank);
  return text.str();
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

// The histogram is of all messages to a peer, as in Open MPI's: it stands once, in the first line
// about the peer.
void write_prof(std::ostream& out, const std::vector<CounterSnapshot>& job,
                const CounterMatrix& matrix, std::int32_t rank) {
  out << kProfStart;
  write_lines(out, matrix, CounterClass::external, 'E', rank,
              [&](log::RankPair pair, const CounterCell& cell) {
                log::SizeBins bins = cell.bins;
                if (const CounterCell* below = find(matrix, CounterClass::internal, pair)) {
                  for (std::size_t i = 0; i < bins.size(); ++i) bins[i] += below->bins[i];
                }
                return "\t" + joined(bins);
              });
  write_lines(out, matrix, CounterClass::internal, 'I', rank,
              [&](log::RankPair pair, const CounterCell& cell) {
                const bool told = find(matrix, CounterClass::external, pair) != nullptr;
                return told ? std::string() : "\t" + joined(cell.bins);
              });
  const auto nothing = [](log::RankPair, const CounterCell&) { return std::string(); };
  out << "# OSC\n";
  write_lines(out, matrix, CounterClass::one_sided_sent, 'S', rank, nothing);
  write_lines(out, matrix, CounterClass::one_sided_received, 'R', rank, nothing);
  out << "# COLLECTIVES\n";
  write_lines(out, matrix, CounterClass::collective, 'C', rank, nothing);
  for (const CounterSnapshot& process : job) {
    if (process.rank() == rank) write_communicators(out, process);
  }
}

std::size_t write_profs(const fs::path& prefix, const std::vector<CounterSnapshot>& job) {
  const CounterMatrix matrix = log::matrix_of(job);
  const auto ranks = ranks_of(job);
  for (const std::int32_t rank : ranks) {
    write_file(fmt::format("{}.{}.prof", prefix.string(), rank), prof_of(job, matrix, rank),
               [](const fs::path& path) { return begins_with(path, kProfStart); });
  }
  return ranks.size();
}

void write_gathered(const fs::path& file, const std::vector<CounterSnapshot>& job) {
  const CounterMatrix matrix = log::matrix_of(job);
  std::string text;
  for (const std::int32_t rank : ranks_of(job)) text += prof_of(job, matrix, rank);
  write_file(file, text, [](const fs::path& path) { return begins_with(path, kProfStart); });
}

std::vector<std::string> write_matrices(const fs::path& prefix, const CounterMatrix& matrix,
                                        bool symmetric) {
  constexpr std::int32_t kMostRanks = 8192;  // two squares of 512 MiB lie in memory then
  if (matrix.ranks > kMostRanks) {
    throw Error({.what = fmt::format("cannot write matrices of {} ranks", matrix.ranks),
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
    if (is_empty(matrix, classes)) continue;
    for (const auto& [what, of] :
         {std::pair{"msg", log::MatrixOf::messages}, std::pair{"size", log::MatrixOf::bytes},
          std::pair{"avg", log::MatrixOf::average}}) {
      written.push_back(
          fmt::format("{}{}_{}_{}.mat", prefix.string(), symmetric ? "" : "_directed", what, name));
      write_file(written.back(), matrix_text(log::square_of(matrix, classes, of, symmetric)),
                 is_matrix);
    }
  }
  return written;
}

}  // namespace uctrace
