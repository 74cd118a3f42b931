#include "log-merger/summaries/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "log-merger/model/number_runs.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/offers.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

ProcessList processes_of(const Setting& setting) {
  ProcessList list(setting.processes);
  std::iota(list.begin(), list.end(), std::int64_t{setting.first_process});
  return list;
}

void add_processes(ProcessList& to, const ProcessList& more) {
  ProcessList joined;
  std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(joined));
  to = std::move(joined);
}

ProcessList others(const Run& run, const ProcessList& than) {
  ProcessList all(run.processes.size());
  std::iota(all.begin(), all.end(), 0);
  ProcessList others;
  std::set_difference(all.begin(), all.end(), than.begin(), than.end(), std::back_inserter(others));
  return others;
}

bool is_limit_in_bytes(const std::string& name) {
  return name == "memlock" || name == "cgroup_memory";
}

// A limit as people read it.
std::string shown_value(const Run& run, const SettingOfRun& setting, TextId value) {
  const std::string& text = run.texts[value];
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return setting.from == SettingFrom::system && is_limit_in_bytes(run.texts[setting.name]) &&
                 is_number
             ? format_bytes(bytes)
             : text;
}

ordered_json runs_json(const ProcessList& processes) {
  ordered_json runs = ordered_json::array();
  for (std::size_t i = 0; i < processes.size();) {
    std::size_t end = i + 1;
    while (end < processes.size() && processes[end] == processes[end - 1] + 1) ++end;
    runs.push_back({processes[i], end - i});
    i = end;
  }
  return runs;
}

std::string place_words(SettingFrom from) {
  switch (from) {
    case SettingFrom::mpi_file:
      return " (from a file of parameters)";
    case SettingFrom::ucx_file:
      return " (from a ucx.conf)";
    default:
      return "";
  }
}

}  // namespace

std::string names_of(const Run& run, const std::vector<TextId>& texts) {
  std::vector<std::string> names;
  for (const TextId text : texts) names.push_back(run.texts[text]);
  return fmt::format("{}", fmt::join(names, ", "));
}

ordered_json setting_row_json(const Run& run, const std::string& name, const char* from,
                              const std::string& value, const ProcessList& processes,
                              bool differs) {
  return {{"name", name},
          {"from", from},
          {"value", value},
          {"of", processes_text(run, processes)},
          {"processes", processes.size()},
          {"runs", runs_json(processes)},
          {"differs", differs}};
}

bool SettingOfRun::is_each_one() const {
  return std::all_of(values.begin(), values.end(),
                     [](const SettingValue& value) { return value.processes.size() == 1; });
}

std::vector<SettingOfRun> settings_of(const Run& run) {
  std::vector<SettingOfRun> settings;
  for (const Setting& row : run.settings) {
    if (!is_setting(row.from)) continue;
    if (settings.empty() || settings.back().name != row.name || settings.back().from != row.from) {
      settings.push_back({row.name, row.from, {}, {}});
    }
    std::vector<SettingValue>& values = settings.back().values;
    if (values.empty() || values.back().value != row.value) values.push_back({row.value, {}});
    add_processes(values.back().processes, processes_of(row));
  }
  for (SettingOfRun& setting : settings) {
    ProcessList having;
    for (const SettingValue& value : setting.values) {
      having.insert(having.end(), value.processes.begin(), value.processes.end());
    }
    std::sort(having.begin(), having.end());
    setting.unset = others(run, having);
    std::stable_sort(setting.values.begin(), setting.values.end(),
                     [](const SettingValue& a, const SettingValue& b) {
                       return a.processes.size() > b.processes.size();
                     });
  }
  return settings;
}

std::vector<OpenedTransport> opened_transports(const Run& run) {
  return transports_of(run, SettingFrom::opened);
}

std::vector<OpenedTransport> transports_of(const Run& run, SettingFrom from) {
  std::vector<OpenedTransport> transports;
  for (const Setting& row : run.settings) {
    if (row.from != from) continue;
    if (transports.empty() || transports.back().transport != row.name) {
      transports.push_back({row.name, {}, {}});
    }
    OpenedTransport& transport = transports.back();
    if (transport.devices.empty() || transport.devices.back() != row.value) {
      transport.devices.push_back(row.value);
    }
    add_processes(transport.processes, processes_of(row));
  }
  return transports;
}

std::optional<std::string> setting_of(const Run& run, std::string_view name, std::int64_t process) {
  for (const Setting& row : run.settings) {  // the environment's come first
    if (!is_setting(row.from) || run.texts[row.name] != name) continue;
    if (process >= row.first_process && process < row.first_process + std::int64_t{row.processes}) {
      return run.texts[row.value];
    }
  }
  return std::nullopt;
}

std::string processes_text(const Run& run, const ProcessList& processes) {
  if (processes.empty()) return "no process";
  if (processes.size() == run.processes.size() && processes.size() > 1) {
    return fmt::format("all {} processes", processes.size());
  }
  const Labels labels(run);
  std::vector<std::int64_t> ranks;
  std::vector<std::string> names;
  for (const std::int64_t process : processes) {
    const std::string& label = labels.of_processes()[static_cast<std::size_t>(process)];
    const std::int32_t rank = run.processes[static_cast<std::size_t>(process)].rank;
    if (rank >= 0 && label == std::to_string(rank)) {
      ranks.push_back(rank);
    } else {
      names.push_back(label);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  constexpr std::size_t kNamed = 3;
  std::string text;
  if (!ranks.empty()) {
    text = fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", number_runs(ranks));
  }
  for (std::size_t i = 0; i < std::min(kNamed, names.size()); ++i) {
    text += (text.empty() ? "" : ", ") + names[i];
  }
  if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
  return text;
}

std::string short_settings(const Run& run) {
  constexpr std::size_t kShort = 100;
  std::string text;
  std::size_t left_out = 0;
  // There may be no room for all: first what differs, then UCX's.
  std::vector<SettingOfRun> settings = settings_of(run);
  std::stable_sort(settings.begin(), settings.end(), [&](const auto& a, const auto& b) {
    const auto place = [&](const SettingOfRun& setting) {
      return setting.differs() ? 0 : run.texts[setting.name].starts_with("UCX_") ? 1 : 2;
    };
    return place(a) < place(b);
  });
  for (const SettingOfRun& setting : settings) {
    if (setting.from != SettingFrom::environment || setting.numbers_processes()) continue;
    for (const SettingValue& value : setting.values) {
      const std::string of =
          setting.differs() ? fmt::format(" ({})", processes_text(run, value.processes)) : "";
      const std::string one =
          fmt::format("{}={}{}", run.texts[setting.name], run.texts[value.value], of);
      if (text.size() + one.size() > kShort) {
        ++left_out;
      } else {
        text += (text.empty() ? "" : ", ") + one;
      }
    }
  }
  if (left_out > 0) text += fmt::format("{}{} more", text.empty() ? "" : " and ", left_out);
  return text;
}

ordered_json settings_json(const Run& run) {
  ordered_json rows = ordered_json::array();
  for (const SettingOfRun& setting : settings_of(run)) {
    for (const SettingValue& value : setting.values) {
      rows.push_back(setting_row_json(run, run.texts[setting.name], name_of(setting.from),
                                      run.texts[value.value], value.processes, setting.differs()));
    }
  }
  for (const SettingFrom from : {SettingFrom::opened, SettingFrom::offered}) {
    for (const OpenedTransport& transport : transports_of(run, from)) {
      rows.push_back(setting_row_json(run, run.texts[transport.transport], name_of(from),
                                      names_of(run, transport.devices), transport.processes,
                                      transport.processes.size() < run.processes.size()));
    }
  }
  add_offers_json(run, rows);
  return rows;
}

std::vector<std::string> setting_lines(const Run& run) {
  std::vector<std::string> lines;
  for (const SettingOfRun& setting : settings_of(run)) {
    for (const SettingValue& value : setting.values) {
      std::string line =
          fmt::format("{}={}{}", run.texts[setting.name], shown_value(run, setting, value.value),
                      place_words(setting.from));
      if (setting.differs()) line += fmt::format("  {} only", processes_text(run, value.processes));
      lines.push_back(line);
    }
  }
  for (const OpenedTransport& transport : opened_transports(run)) {
    std::string line = fmt::format("UCX opened {} on {}", run.texts[transport.transport],
                                   names_of(run, transport.devices));
    if (transport.processes.size() < run.processes.size()) {
      line += fmt::format("  {} only", processes_text(run, transport.processes));
    }
    lines.push_back(line);
  }
  add_offer_lines(run, lines);
  return lines;
}

}  // namespace uctrace
