#include "log-merger/summaries/offers.hpp"

#include <fmt/format.h>

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

// Variables that select transports and devices.
enum Chooser : std::size_t { kTls, kNetDevices, kShmDevices, kAccDevices, kSelfDevices, kChoosers };
constexpr std::array<std::string_view, kChoosers> kNames = {
    "UCX_TLS", "UCX_NET_DEVICES", "UCX_SHM_DEVICES", "UCX_ACC_DEVICES", "UCX_SELF_DEVICES"};

// Their values in each process; kNoText: not set. The environment comes first and overrides files.
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

Chooser chooser_of_device(std::string_view transport, std::string_view device) {
  if (transport == "self") return kSelfDevices;
  if (device.starts_with("memory")) return kShmDevices;
  for (const std::string_view accelerator : {"cuda", "rocm", "ze"}) {
    if (device.starts_with(accelerator)) return kAccDevices;
  }
  return kNetDevices;
}

// "mlx5_0:1,eth0", "all". The meaning of other names depends on the release: "^eth0" and a card
// without its port came with UCX 1.21, "mlx5_[0-3]:1" with 1.22. nullopt: it contains such a name.
std::optional<bool> devices_allow(std::string_view value, std::string_view device) {
  bool is_plain = value.find_first_of("^[*") == std::string_view::npos;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::string_view name = value.substr(begin, end - begin);
    if (is_plain && (name == "all" || name == device)) return true;
    const bool is_its_card = !name.empty() && device.size() > name.size() &&
                             device.starts_with(name) && device[name.size()] == ':';
    is_plain = is_plain && !is_its_card;
    begin = end + 1;
  }
  return is_plain ? std::optional(false) : std::nullopt;
}

// Why a process did not open an offered transport. Most processes have the same variables: each
// answer is computed once.
class Reasons {
 public:
  explicit Reasons(const Run& run) : run_(run), choices_(run) {}

  const std::string& of(std::size_t process, TextId transport, TextId device) {
    const Chooser chooser = chooser_of_device(run_.texts[transport], run_.texts[device]);
    const TextId tls = choices_.of(process, kTls), devices = choices_.of(process, chooser);
    const auto [reason, is_new] = known_.try_emplace({transport, device, tls, devices});
    if (is_new) reason->second = find(transport, device, tls, {chooser, devices});
    return reason->second;
  }

 private:
  std::string find(TextId transport, TextId device, TextId tls,
                   std::pair<Chooser, TextId> devices) const {
    if (tls != kNoText && !tls_allow(run_.texts[tls], run_.texts[transport])) {
      return fmt::format("{}={} leaves it out", kNames[kTls], run_.texts[tls]);
    }
    const std::optional<bool> allowed =
        devices.second == kNoText ? true
                                  : devices_allow(run_.texts[devices.second], run_.texts[device]);
    if (allowed == true) return "UCX chose others";
    return fmt::format("{}={} {} it out", kNames[devices.first], run_.texts[devices.second],
                       allowed ? "leaves" : "may leave");
  }

  const Run& run_;
  const Choices choices_;
  std::map<std::tuple<TextId, TextId, TextId, TextId>, std::string> known_;
};

using What = std::pair<TextId, TextId>;  // transport and device

// The processes that opened each, as bits.
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

void add_components_json(const Run& run, ordered_json& rows) {
  std::map<What, ProcessList> components;  // by name and number of domains
  std::map<TextId, std::size_t> values;
  for (const Setting& row : run.settings) {
    if (row.from != SettingFrom::component) continue;
    const auto [component, is_new] = components.try_emplace({row.name, row.value});
    values[row.name] += is_new ? 1 : 0;
    for (std::uint32_t i = 0; i < row.processes; ++i) {
      component->second.push_back(std::int64_t{row.first_process} + i);
    }
  }
  for (const auto& [what, processes] : components) {
    const bool differs = values[what.first] > 1 || processes.size() < run.processes.size();
    rows.push_back(setting_row_json(run, run.texts[what.first], name_of(SettingFrom::component),
                                    run.texts[what.second], processes, differs));
  }
}

}  // namespace

std::vector<UnopenedTransport> unopened_transports(const Run& run) {
  Reasons reasons(run);
  const std::map<What, std::vector<bool>> opened = opened_by(run);
  struct Group {
    std::set<TextId> devices;
    ProcessList processes;
  };
  std::map<std::pair<TextId, std::string>, Group> groups;
  for (const Setting& row : run.settings) {
    if (row.from != SettingFrom::offered) continue;
    const auto by = opened.find({row.name, row.value});
    const std::size_t end =
        std::min(run.processes.size(), std::size_t{row.first_process} + row.processes);
    for (std::size_t process = row.first_process; process < end; ++process) {
      if (by != opened.end() && by->second[process]) continue;
      Group& group = groups[{row.name, reasons.of(process, row.name, row.value)}];
      group.devices.insert(row.value);
      group.processes.push_back(static_cast<std::int64_t>(process));
    }
  }
  std::vector<UnopenedTransport> rows;
  for (auto& [key, group] : groups) {
    std::sort(group.processes.begin(), group.processes.end());
    group.processes.erase(std::unique(group.processes.begin(), group.processes.end()),
                          group.processes.end());
    rows.push_back({key.first,
                    {group.devices.begin(), group.devices.end()},
                    std::move(group.processes),
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

std::optional<std::string> why_not_opened(const Run& run, std::string_view transport,
                                          std::int64_t process) {
  const auto has_row = [&](const Setting& row, SettingFrom from) {
    return row.from == from && process >= row.first_process &&
           process < row.first_process + std::int64_t{row.processes};
  };
  Reasons reasons(run);
  std::optional<std::string> why;
  for (const Setting& row : run.settings) {
    const bool is_it = run.texts[row.name] == transport;
    if (is_it && has_row(row, SettingFrom::opened)) return std::nullopt;
    if (!has_row(row, SettingFrom::offered)) continue;
    if (is_it) {
      why = reasons.of(static_cast<std::size_t>(process), row.name, row.value);
    } else if (!why) {
      why = "";
    }
  }
  return why;
}

void add_offers_json(const Run& run, ordered_json& rows) {
  add_components_json(run, rows);
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
