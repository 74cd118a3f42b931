// The settings of a run by name: the values by process, and the differences.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace {

using ProcessList = std::vector<std::int64_t>;  // rows of Run::processes, ascending

struct SettingValue {
  TextId value = kNoText;
  ProcessList processes;
};

// A setting of one place (is_setting()).
struct SettingOfRun {
  TextId name = kNoText;
  SettingFrom from = SettingFrom::environment;
  std::vector<SettingValue> values;  // of most processes first
  ProcessList unset;                 // processes that do not have it

  bool differs() const { return values.size() > 1 || !unset.empty(); }
  // Every process has a different value: it numbers the processes, and is not a choice.
  bool numbers_processes() const { return unset.empty() && values.size() > 2 && is_each_one(); }

 private:
  bool is_each_one() const;
};
// In the order of the table.
std::vector<SettingOfRun> settings_of(const Run& run);

// Interfaces that UCX opened, by transport.
struct OpenedTransport {
  TextId transport = kNoText;
  std::vector<TextId> devices;
  ProcessList processes;  // that opened it on one device or more
};
std::vector<OpenedTransport> opened_transports(const Run& run);
// The same of `offered`.
std::vector<OpenedTransport> transports_of(const Run& run, SettingFrom from);

// The value of a variable for a process: from its environment, else from files. nullopt: not set.
std::optional<std::string> setting_of(const Run& run, std::string_view name, std::int64_t process);

// "rank 3", "ranks 0-2", "all 4 processes"; processes without a unique rank get their labels.
std::string processes_text(const Run& run, const ProcessList& processes);

// "UCX_TLS=tcp (rank 3), OMPI_MCA_pml=ucx and 2 more" variables of UCX, an MPI or a launcher;
// empty: there are none.
std::string short_settings(const Run& run);

// "eth0, lo".
std::string names_of(const Run& run, const std::vector<TextId>& texts);

// One of the rows below.
nlohmann::ordered_json setting_row_json(const Run& run, const std::string& name, const char* from,
                                        const std::string& value, const ProcessList& processes,
                                        bool differs);

// Rows {name, from, value, of, processes, runs: [[first row of processes, count], ...], differs},
// including interfaces and unopened offers.
nlohmann::ordered_json settings_json(const Run& run);

// Lines for a person.
std::vector<std::string> setting_lines(const Run& run);

}  // namespace uctrace
