// The path of data, and whether there was a shorter one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "device-attributor/vendor-facts/vendor_facts.hpp"
#include "log-merger/findings/rules.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/summaries/info_members.hpp"
#include "log-merger/summaries/offers.hpp"
#include "log-merger/summaries/settings.hpp"

namespace uctrace::findings {
namespace {

using nlohmann::ordered_json;
using summaries::member;

// A smaller share is not worth a finding.
constexpr double kLeastShare = 0.01;
constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kLargeMessage = 8 * 1024;

constexpr std::string_view kCopying[] = {"posix", "sysv"};
constexpr std::string_view kSingleCopy[] = {"cma", "xpmem", "knem"};

template <typename Names>
bool is_one_of(const std::string& name, const Names& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The sum of all that fit.
struct Sum {
  std::uint64_t bytes = 0, messages = 0;
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  std::set<std::int64_t> processes;
};

template <typename Fits>
Sum sum_of(const Facts& facts, const Fits& fits) {
  Sum sum;
  for (const Carried& carried : facts.carried) {
    if (carried.reach != Reach::host || carried.host_bytes == 0) continue;
    if (!fits(facts.run.texts[carried.transport])) continue;
    sum.bytes += carried.host_bytes;
    sum.messages += carried.messages;
    sum.pairs.emplace(carried.src_process, carried.dst_process);
    sum.processes.insert({carried.src_process, carried.dst_process});
  }
  return sum;
}

// "; UCX_TLS=tcp leaves it out": the value in these processes; empty: none has one.
std::string tls_words(const Run& run, const std::set<std::int64_t>& processes) {
  std::set<std::string> values;
  for (const std::int64_t process : processes) {
    if (const auto value = setting_of(run, "UCX_TLS", process)) values.insert(*value);
  }
  return values.empty() ? "" : fmt::format("UCX_TLS={}", fmt::join(values, " or UCX_TLS="));
}

// Whether one of the processes opened one of the transports. False if the opened transports are not
// known.
template <typename Names>
bool opened_one(const Run& run, const std::set<std::int64_t>& processes, const Names& names) {
  for (const OpenedTransport& opened : opened_transports(run)) {
    if (!is_one_of(run.texts[opened.transport], names)) continue;
    for (const std::int64_t process : opened.processes) {
      if (processes.contains(process)) return true;
    }
  }
  return false;
}

}  // namespace

void tcp_within_host(const Facts& facts, Found& found) {
  const Sum sum = sum_of(facts, [](const std::string& transport) { return transport == "tcp"; });
  const double share = facts.share_of_payload(sum.bytes);
  if (sum.bytes == 0 || share < kLeastShare) return;
  const std::string tls = tls_words(facts.run, sum.processes);
  const bool has_shared = opened_one(facts.run, sum.processes, kCopying);
  const std::string why = has_shared    ? "although UCX opened shared memory there, too"
                          : tls.empty() ? "and UCX opened no shared memory there"
                                        : fmt::format("and {} leaves shared memory out", tls);
  found.push_back(
      {.rule = "tcp-within-host",
       .what =
           fmt::format("{} of payload ({:.0f} %) between ranks of one host went over tcp, in {} "
                       "pairs, {}: shared memory or cma would carry it faster",
                       format_bytes(sum.bytes), 100 * share, sum.pairs.size(), why),
       .advice = has_shared
                     ? "are these ranks in containers of their own? start them with a common "
                       "IPC namespace and /dev/shm"
                 : tls.empty()
                     ? "see that /dev/shm is there and large enough, and that containers of a host "
                       "share their IPC namespace"
                     : "unset UCX_TLS, or add sm to it, as UCX_TLS=tcp,sm,self",
       .command = "report --transport tcp --by pairs",
       .evidence = {{"payload_bytes", sum.bytes},
                    {"messages", sum.messages},
                    {"pairs", sum.pairs.size()},
                    {"ucx_tls", tls}},
       .share = share});
}

void no_single_copy(const Facts& facts, Found& found) {
  const Sum sum = sum_of(facts, [](const std::string& name) { return is_one_of(name, kCopying); });
  const double share = facts.share_of_payload(sum.bytes);
  if (sum.bytes < kLeastBytes || share < kLeastShare) return;
  if (sum.messages == 0 || sum.bytes / sum.messages < kLargeMessage) return;
  // The opened transports are not known, or one process had it.
  if (opened_transports(facts.run).empty()) return;
  if (opened_one(facts.run, sum.processes, kSingleCopy)) return;
  const std::string tls = tls_words(facts.run, sum.processes);
  const std::string scope =
      setting_of(facts.run, "ptrace_scope", *sum.processes.begin()).value_or("0");
  const std::optional<std::string> not_opened =
      why_not_opened(facts.run, "cma", *sum.processes.begin());
  const std::string why =
      !tls.empty()   ? fmt::format("{} leaves cma out", tls)
      : scope != "0" ? fmt::format("ptrace_scope is {}, which forbids cma", scope)
      : !not_opened  ? "UCX found that processes may not read each other's memory here"
      : not_opened->empty()
          ? "UCX was offered no cma here: processes may not read each other's "
            "memory, or the module of cma is missing"
          : fmt::format("UCX was offered cma and did not open it: {}", *not_opened);
  found.push_back(
      {.rule = "no-single-copy",
       .what = fmt::format("{} of payload ({:.0f} %) within hosts was copied twice, through shared "
                           "memory, in messages of {} on average: {}",
                           format_bytes(sum.bytes), 100 * share,
                           format_bytes(sum.bytes / sum.messages), why),
       .advice = !tls.empty()   ? "add cma to UCX_TLS, or unset it"
                 : scope != "0" ? "as root: sysctl kernel.yama.ptrace_scope=0"
                 : not_opened && !not_opened->empty()
                     ? "let UCX choose, without the setting that leaves cma out"
                     : "give the container the capability SYS_PTRACE, or one user "
                       "namespace to all ranks of a host",
       .command = "report --by contenders",
       .evidence = {{"payload_bytes", sum.bytes},
                    {"messages", sum.messages},
                    {"ucx_tls", tls},
                    {"ptrace_scope", scope}},
       .share = share});
}

// For the vendors of the run's GPUs; if these are not known, for all.
std::string direct_ways(const Facts& facts) {
  std::set<std::string> names;
  for (const ordered_json& device : member(member(facts.info, "gpu"), "devices")) {
    names.insert(summaries::text_of(device, "vendor"));
  }
  std::vector<std::string> ways;
  for (const gpu::VendorFacts& vendor : gpu::kVendorFacts) {
    if (!names.empty() && names.count(vendor.name) == 0) continue;
    ways.push_back(fmt::format("for {} {}", vendor.title, vendor.direct));
  }
  return fmt::format("{}", fmt::join(ways, "; "));
}

void staged_through_host(const Facts& facts, Found& found) {
  const Staged& staged = facts.staged;
  if (staged.bytes == 0) return;
  const double share = facts.share_of_payload(staged.bytes);
  found.push_back(
      {.rule = "staged-through-host",
       .what =
           fmt::format("{} of the {} that lay in GPU memory ({} messages) was copied through "
                       "the host's memory on its way",
                       format_bytes(staged.bytes), format_bytes(staged.of_bytes), staged.messages),
       .advice = fmt::format("let other GPUs and the network card reach the GPU: {}; see that "
                             "UCX_TLS does not leave that out",
                             direct_ways(facts)),
       .command = "report --role staging --by contenders",
       .evidence = {{"staged_bytes", staged.bytes},
                    {"staged_messages", staged.messages},
                    {"gpu_bytes", staged.of_bytes},
                    {"gpu_messages", staged.of_messages}},
       .share = share});
}

void memory_mistaken(const Facts& facts, Found& found) {
  const ordered_json& list = member(member(facts.info, "gpu"), "disagreements");
  if (!list.is_array() || list.empty()) return;
  std::uint64_t operations = 0, bytes = 0;
  std::set<std::string> kinds;
  for (const ordered_json& one : list) {
    operations += count_of(one, "operations");
    bytes += count_of(one, "bytes");
    kinds.insert(fmt::format("{} memory for {}", summaries::text_of(one, "memory"),
                             summaries::text_of(one, "believed")));
  }
  found.push_back(
      {.rule = "memory-mistaken",
       .what = fmt::format("UCX took {}, against what the driver says: {} operations, {}",
                           fmt::join(kinds, ", "), operations, format_bytes(bytes)),
       .advice = "UCX missed an allocation: try UCX_MEMTYPE_CACHE=n, and see that UCX is built for "
                 "the driver of these GPUs",
       .command = "info",
       .evidence = {{"operations", operations}, {"bytes", bytes}, {"disagreements", list}},
       .share = std::min(1.0, facts.share_of_payload(bytes))});
}

}  // namespace uctrace::findings
