// Network cards of hosts: which of them carried how much, and how far they are from GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "log-merger/findings/rules.hpp"
#include "log-merger/model/quantities.hpp"

namespace uctrace::findings {
namespace {

constexpr double kMost = 0.8;  // of a host's bytes, by one card
constexpr std::uint64_t kLeastHostBytes = std::uint64_t{1} << 20;

std::uint64_t bytes_of(const GpuNic& row) { return row.out_bytes + row.in_bytes; }

struct Host {
  std::vector<std::int32_t> cards;  // into nics
  std::map<std::int32_t, std::uint64_t> bytes;
};

// Cards on a PCI bus: tcp's devices may be anything, also the loopback.
std::map<TextId, Host> hosts_of(const Run& run) {
  std::map<TextId, Host> hosts;
  for (std::size_t i = 0; i < run.nics.size(); ++i) {
    if (run.nics[i].bus == kNoText) continue;
    hosts[run.nics[i].host].cards.push_back(static_cast<std::int32_t>(i));
  }
  for (const GpuNic& row : run.gpu_nic) {
    if (row.nic < 0 || run.nics[static_cast<std::size_t>(row.nic)].bus == kNoText) continue;
    hosts[row.host].bytes[row.nic] += bytes_of(row);
  }
  return hosts;
}

}  // namespace

void one_card_carries_most(const Facts& facts, Found& found) {
  const Run& run = facts.run;
  std::uint64_t by_one = 0, by_all = 0, hosts = 0;
  std::string example;
  std::uint64_t of_example = 0;
  for (const auto& [name, host] : hosts_of(run)) {
    if (host.cards.size() < 2) continue;
    std::uint64_t sum = 0;
    for (const auto& [card, bytes] : host.bytes) sum += bytes;
    const auto most =
        std::max_element(host.bytes.begin(), host.bytes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (sum < kLeastHostBytes ||
        static_cast<double>(most->second) < kMost * static_cast<double>(sum)) {
      continue;
    }
    ++hosts;
    by_one += most->second;
    by_all += sum;
    if (most->second <= of_example) continue;
    of_example = most->second;
    example = fmt::format("{} of {}, which has {} cards that UCX opened",
                          run.texts[run.nics[static_cast<std::size_t>(most->first)].device],
                          run.texts[name], host.cards.size());
  }
  if (hosts == 0) return;
  const double part = 100.0 * static_cast<double>(by_one) / static_cast<double>(by_all);
  found.push_back(
      {.rule = "one-card-carries-most",
       .what = fmt::format("One network card carried {:.0f} % of the {} of its host, on {} host{}: "
                           "most of all {}",
                           part, format_bytes(by_all), hosts, hosts == 1 ? "" : "s", example),
       .advice =
           "name all cards in UCX_NET_DEVICES, or none; UCX_MAX_RNDV_RAILS says over how many "
           "a message is spread; bind ranks so that each is near another card",
       .command = "report --by gpu-nic",
       .evidence = {{"bytes_of_one_card", by_one}, {"bytes", by_all}, {"hosts", hosts}},
       .share = std::min(1.0, facts.share_of_payload(by_one))});
}

void card_far_from_gpu(const Facts& facts, Found& found) {
  const Run& run = facts.run;
  std::map<std::int32_t, Distance> nearest;  // of a GPU
  for (const GpuNic& row : run.gpu_nic) {
    if (row.gpu < 0 || row.nic < 0 || row.distance == Distance::unknown) continue;
    const auto [at, is_new] = nearest.emplace(row.gpu, row.distance);
    if (!is_new) at->second = std::min(at->second, row.distance);
  }
  std::uint64_t bytes = 0, most = 0;
  const GpuNic* worst = nullptr;
  for (const GpuNic& row : run.gpu_nic) {
    const auto near = nearest.find(row.gpu);
    if (near == nearest.end() || row.nic < 0 || bytes_of(row) == 0) continue;
    if (row.distance < Distance::phb || row.distance <= near->second) continue;
    bytes += bytes_of(row);
    if (bytes_of(row) <= most) continue;
    most = bytes_of(row);
    worst = &row;
  }
  if (worst == nullptr) return;
  found.push_back(
      {.rule = "card-far-from-gpu",
       .what = fmt::format("{} went between GPUs and network cards that are not the nearest: most "
                           "of all {} between "
                           "GPU {} and {} of {} ({}, where another card is {})",
                           format_bytes(bytes), format_bytes(most),
                           run.texts[run.gpus[static_cast<std::size_t>(worst->gpu)].bus],
                           run.texts[run.nics[static_cast<std::size_t>(worst->nic)].device],
                           run.texts[worst->host], name_of(worst->distance),
                           name_of(nearest.at(worst->gpu))),
       .advice =
           "bind each rank to the GPU that is near its card, or name the card of each rank in "
           "UCX_NET_DEVICES",
       .command = "report --by gpu-nic",
       .evidence = {{"bytes", bytes}, {"bytes_of_worst_pair", most}},
       .share = std::min(1.0, facts.share_of_payload(bytes))});
}

}  // namespace uctrace::findings
