#include "log-merger/summaries/offers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "log-merger/model/transport_names.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

// Variables that choose among transports and devices.
enum Chooser : std::size_t { kTls, kNetDevices, kShmDevices, kAccDevices, kChoosers };
constexpr std::array<std::string_view, kChoosers> kNames = {"UCX_TLS", "UCX_NET_DEVICES",
                                                            "UCX_SHM_DEVICES", "UCX_ACC_DEVICES"};

// Their values in each process; kNoText: not set there. The environment's come first, and count.
class Choices {
 public:
  explicit Choices(const Run& run) : values_(run.processes.size()) {
    for (auto& values : values_) values.fill(kNoText);
    for (const Setting& row : run.settings) {
      if (!is_setting(row.from)) continue;
      const auto* const name = std::find(kNames.begin(), kNames.end(), run.texts[row.name]);
      if (name == kNames.end()) continue;
      const std::size_t end =
          std::min(values_.size(), std::size_t{row.first_process} + row.processes);
      for (std::size_t process = row.first_process; process < end; ++process) {
        TextId& value = values_[process][static_cast<std::size_t>(name - kNames.begin())];
        if (value == kNoText) value = row.value;
      }
    }
  }
  TextId of(std::size_t process, Chooser chooser) const { return values_[process][chooser]; }

 private:
  std::vector<std::array<TextId, kChoosers>> values_;
};

Chooser chooser_of_device(std::string_view device) {
  if (device.starts_with("memory")) return kShmDevices;
  for (const std::string_view accelerator : {"cuda", "rocm", "ze"}) {
    if (device.starts_with(accelerator)) return kAccDevices;
  }
  return kNetDevices;
}

// "mlx5_0:1,eth0", "all"; "^eth0" for all others. A name without a port means each of its ports.
bool devices_allow(std::string_view value, std::string_view device) {
  const bool excludes = value.starts_with('^');
  if (excludes) value.remove_prefix(1);
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::string_view name = value.substr(begin, end - begin);
    const bool is_its_card = device.size() > name.size() && device.starts_with(name) &&
                             device[name.size()] == ':' && !name.empty();
    if (name == "all" || name == device || is_its_card) return !excludes;
    begin = end + 1;
  }
  return excludes;
}

std::string why_not(const Run& run, const Choices& choices, std::size_t process,
                    std::string_view transport, std::string_view device) {
  const auto leaves_out = [&](Chooser chooser) {
    return fmt::format("{}={} leaves it out", kNames[chooser],
                       run.texts[choices.of(process, chooser)]);
  };
  const TextId tls = choices.of(process, kTls);
  if (tls != kNoText && !tls_allow(run.texts[tls], transport)) return leaves_out(kTls);
  const Chooser of_device = chooser_of_device(device);
  const TextId devices = choices.of(process, of_device);
  if (devices != kNoText && !devices_allow(run.texts[devices], device)) {
    return leaves_out(of_device);
  }
  return "UCX chose others";
}

using What = std::pair<TextId, TextId>;  // transport and device

// Processes that opened each, as bits.
std::map<What, std::vector<bool>> opened_by(const Run& run) {
  std::map<What, std::vector<bool>> opened;
  for (const Setting& row : run.settings) {
    if (row.from != SettingFrom::opened) continue;
    std::vector<bool>& processes = opened[{row.name, row.value}];
    processes.resize(run.processes.size());
    const std::size_t end =
        std::min(processes.size(), std::size_t{row.first_process} + row.processes);
    for (std::size_t i = row.first_process; i < end; ++i) processes[i] = true;
  }
  return opened;
}

std::string names_of(const Run& run, const std::vector<TextId>& texts) {
  std::vector<std::string> names;
  for (const TextId text : texts) names.push_back(run.texts[text]);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<UnopenedTransport> unopened_transports(const Run& run) {
  const Choices choices(run);
  const std::map<What, std::vector<bool>> opened = opened_by(run);
  struct Group {
    std::set<TextId> devices;
    std::set<std::int64_t> processes;
  };
  std::map<std::pair<TextId, std::string>, Group> groups;
  for (const Setting& row : run.settings) {
    if (row.from != SettingFrom::offered) continue;
    const auto by = opened.find({row.name, row.value});
    const std::size_t end =
        std::min(run.processes.size(), std::size_t{row.first_process} + row.processes);
    for (std::size_t process = row.first_process; process < end; ++process) {
      if (by != opened.end() && by->second[process]) continue;
      Group& group = groups[{
          row.name, why_not(run, choices, process, run.texts[row.name], run.texts[row.value])}];
      group.devices.insert(row.value);
      group.processes.insert(static_cast<std::int64_t>(process));
    }
  }
  std::vector<UnopenedTransport> rows;
  for (const auto& [key, group] : groups) {
    rows.push_back({key.first,
                    {group.devices.begin(), group.devices.end()},
                    {group.processes.begin(), group.processes.end()},
                    key.second});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const UnopenedTransport& a, const UnopenedTransport& b) {
                     return run.texts[a.transport] < run.texts[b.transport];
                   });
  return rows;
}

std::vector<TextId> components_without_device(const Run& run) {
  std::set<TextId> with, without;
  for (const Setting& row : run.settings) {
    if (row.from != SettingFrom::component) continue;
    (run.texts[row.value] == "0" ? without : with).insert(row.name);
  }
  std::vector<TextId> rows;
  std::set_difference(without.begin(), without.end(), with.begin(), with.end(),
                      std::back_inserter(rows));
  std::sort(rows.begin(), rows.end(),
            [&](TextId a, TextId b) { return run.texts[a] < run.texts[b]; });
  return rows;
}

std::optional<bool> was_offered(const Run& run, std::string_view transport) {
  std::optional<bool> offered;
  for (const Setting& row : run.settings) {
    if (row.from != SettingFrom::offered) continue;
    offered = offered.value_or(false) || run.texts[row.name] == transport;
  }
  return offered;
}

void add_offers_json(const Run& run, ordered_json& rows) {
  for (const UnopenedTransport& left_out : unopened_transports(run)) {
    ordered_json row = setting_row_json(run, run.texts[left_out.transport], "left_out",
                                        names_of(run, left_out.devices), left_out.processes,
                                        left_out.processes.size() < run.processes.size());
    row["why"] = left_out.why;
    rows.push_back(std::move(row));
  }
}

void add_offer_lines(const Run& run, std::vector<std::string>& lines) {
  for (const UnopenedTransport& left_out : unopened_transports(run)) {
    std::string line =
        fmt::format("UCX was offered {} on {} and did not open it: {}",
                    run.texts[left_out.transport], names_of(run, left_out.devices), left_out.why);
    if (left_out.processes.size() < run.processes.size()) {
      line += fmt::format("  {} only", processes_text(run, left_out.processes));
    }
    lines.push_back(std::move(line));
  }
  const std::vector<TextId> components = components_without_device(run);
  if (!components.empty()) {
    lines.push_back(
        fmt::format("UCX has parts that found no device: {}", names_of(run, components)));
  }
}

}  // namespace uctrace
