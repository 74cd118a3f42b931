// About the program itself: tiny messages, and load imbalance.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "log-merger/findings/rules.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace::findings {
namespace {

constexpr std::uint64_t kMany = 10'000;
constexpr std::size_t kShownSites = 3;
constexpr double kBalanced = 0.9;       // mean work of ranks / largest
constexpr double kLeastWorkNs = 1e6;    // below, it is noise
constexpr double kLeastWaiting = 0.05;  // of the time of all ranks

std::string label_of(const Run& run, std::uint32_t process) {
  return Labels(run).of_processes()[process];
}

// Characters that a shell and an option take literally.
bool is_name(const std::string& text) {
  constexpr auto kOfNames = "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return !text.empty() && text.find_first_not_of(kOfNames) == std::string::npos;
}

}  // namespace

void many_tiny_messages(const Facts& facts, Found& found) {
  const Run& run = facts.run;
  std::vector<TinyMessages> sites;
  for (const TinyMessages& tiny : facts.tiny) {
    if (tiny.messages >= kMany) sites.push_back(tiny);
  }
  std::stable_sort(sites.begin(), sites.end(), [](const TinyMessages& a, const TinyMessages& b) {
    return a.messages > b.messages;
  });
  sites.resize(std::min(sites.size(), kShownSites));
  for (const TinyMessages& tiny : sites) {
    const std::string& function = run.texts[tiny.mpi];
    const std::string& place =
        run.texts[run.call_sites[static_cast<std::size_t>(tiny.call_site)].label];
    found.push_back(
        {.rule = "many-tiny-messages",
         .what = fmt::format("{} messages below {} B, {} B on average, come from one place: {}{}; "
                             "its calls took {} on all ranks",
                             tiny.messages, kTinyBytes, tiny.bytes / tiny.messages,
                             function.empty() ? "" : function + " at ", place,
                             format_duration(tiny.ns)),
         .advice = "send together what goes to one rank: a longer buffer, a derived datatype, or a "
                   "collective operation",
         .command = "report --by call-sites" + (is_name(function) ? " --mpi " + function : ""),
         .evidence = {{"messages", tiny.messages},
                      {"bytes", tiny.bytes},
                      {"call_site", place},
                      {"mpi", function},
                      {"time_ns", tiny.ns}},
         .share = facts.share_of_time(static_cast<double>(tiny.ns))});
  }
}

void ranks_unbalanced(const Facts& facts, Found& found) {
  double sum = 0, most = 0;
  std::uint32_t busiest = 0;
  for (const RankTime& rank : facts.run.rank_times) {
    // With several threads, it is not recorded which ones worked while others were in MPI.
    if (rank.threads > 1) return;
    const double work = work_ns(rank);
    sum += work;
    if (work <= most) continue;
    busiest = rank.process;
    most = work;
  }
  const auto ranks = static_cast<double>(facts.run.rank_times.size());
  if (ranks < 2) return;
  const double mean = sum / ranks;
  const double cost = (most - mean) * ranks;
  if (most - mean < kLeastWorkNs || mean >= kBalanced * most) return;
  found.push_back(
      {.rule = "ranks-unbalanced",
       .what = fmt::format("Ranks do not work evenly: rank {} spent {} outside MPI, the "
                           "mean of all is {} (load balance {:.0f} %)",
                           label_of(facts.run, busiest), time_text(most), time_text(mean),
                           100 * mean / most),
       .advice = "`uctrace simulate DIR --balance run` tells what an even share of the work "
                 "would gain",
       .command = "waits",
       .evidence = {{"rank", label_of(facts.run, busiest)},
                    {"greatest_work_ns", most},
                    {"mean_work_ns", mean},
                    {"idle_ns", cost}},
       .share = facts.share_of_time(cost)});
}

void rank_makes_others_wait(const Facts& facts, Found& found) {
  const Run& run = facts.run;
  std::map<std::uint32_t, double> by_process;
  double whole = 0;
  for (const Delay& delay : run.delays) {
    const double cost =
        static_cast<double>(delay.direct_ns) + static_cast<double>(delay.passed_on_ns);
    by_process[delay.process] += cost;
    whole += cost;
  }
  const double share = facts.share_of_time(whole);
  if (whole < kLeastWorkNs || share < kLeastWaiting) return;
  const auto worst =
      std::max_element(by_process.begin(), by_process.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  // The largest of its delays comes first.
  const auto delay = std::find_if(run.delays.begin(), run.delays.end(),
                                  [&](const Delay& one) { return one.process == worst->first; });
  const TextId site = call_site_of(run, delay->stack);
  const std::string place =
      run.texts[delay->function] + (site == kNoText ? "" : " at " + run.texts[site]);
  const std::string rank = label_of(run, worst->first);
  found.push_back(
      {.rule = "rank-makes-others-wait",
       .what = fmt::format("Ranks waited {} for others, {:.0f} % of their time; {} of it for rank "
                           "{}, whose work made it come late, most of all to {}",
                           time_text(whole), 100 * share, time_text(worst->second), rank, place),
       .advice = fmt::format("look at what rank {} does before {}; `uctrace simulate DIR --faster "
                             "compute@{}=2` tells what it would gain",
                             rank, place, rank),
       .command = "waits --rank " + rank,
       .evidence = {{"waited_ns", whole},
                    {"for_rank", rank},
                    {"for_rank_ns", worst->second},
                    {"place", place}},
       .share = share});
}

}  // namespace uctrace::findings
