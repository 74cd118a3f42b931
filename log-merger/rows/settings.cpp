#include "log-merger/rows/settings.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "event-log/format/setting_names.hpp"
#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {
namespace {

// Variables of launchers that look like settings but identify the process.
constexpr std::string_view kOfLaunchers[] = {
    "OMPI_MCA_ess",
    "OMPI_MCA_orte_",
    "OMPI_MCA_pmix",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_mpi_oversubscribe",
    "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
    "PMIX_MCA_mca_base_component_show_load_errors",
    "PRTE_MCA_ess",
    "PRTE_MCA_prte_",
    "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
};

bool is_of_launcher(std::string_view name) {
  return std::any_of(std::begin(kOfLaunchers), std::end(kOfLaunchers),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

SettingFrom from_of(log::SettingFrom from) {
  switch (from) {
    case log::SettingFrom::offered:
      return SettingFrom::offered;
    case log::SettingFrom::component:
      return SettingFrom::component;
    default:
      return static_cast<SettingFrom>(from);
  }
}

class SettingRows {
 public:
  explicit SettingRows(Run& run) : run_(run) {}

  // Of one process after the other.
  void add(std::uint32_t process, const ProcessLog& log) {
    std::set<std::pair<SettingFrom, std::string>> given;
    for (const std::string& variable : log.environment) {
      add_text(process, SettingFrom::environment, variable, given);
    }
    // Variables that this MPI does not read are not settings.
    const bool is_open_mpi = log.mpi_library.find("Open MPI") != std::string::npos;
    for (const TakenSetting& setting : log.settings) {
      // A log of a later version may know more places.
      if (setting.from >= static_cast<std::uint64_t>(log::SettingFrom::kCount)) continue;
      const SettingFrom from = from_of(static_cast<log::SettingFrom>(setting.from));
      if (!is_setting(from)) {
        add_offer(process, from, setting.text);
      } else if (from != SettingFrom::mpi_file || is_open_mpi) {
        add_text(process, from, setting.text, given);
      }
    }
    for (const Interface& interface : log.interfaces) {
      add_value(process, {SettingFrom::opened, run_.texts[interface.transport],
                          run_.texts[interface.device]});
    }
  }

  void finish() {
    for (const auto& [what, runs] : runs_) {
      const auto& [from, name, value] = what;
      for (const auto& [first, end] : runs) {
        run_.settings.push_back(
            {run_.texts.intern(name), run_.texts.intern(value), from, first, end - first});
      }
    }
  }

 private:
  using What = std::tuple<SettingFrom, std::string, std::string>;
  using Runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // [first, end)

  // The first of a name counts.
  void add_text(std::uint32_t process, SettingFrom from, const std::string& text,
                std::set<std::pair<SettingFrom, std::string>>& given) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return;
    std::string name = plain_text(text.substr(0, equals));
    // Logs from other sources may contain anything.
    if (log::is_secret(name) || is_of_launcher(name)) return;
    if (!given.emplace(from, name).second) return;
    add_value(process, {from, std::move(name), plain_text(text.substr(equals + 1))});
  }

  // A transport may be offered on several devices.
  void add_offer(std::uint32_t process, SettingFrom from, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return;
    add_value(process,
              {from, plain_text(text.substr(0, equals)), plain_text(text.substr(equals + 1))});
  }

  void add_value(std::uint32_t process, const What& what) {
    Runs& runs = runs_[what];
    if (!runs.empty() && runs.back().second > process) return;
    if (!runs.empty() && runs.back().second == process) {
      ++runs.back().second;
    } else {
      runs.emplace_back(process, process + 1);
    }
  }

  Run& run_;
  std::map<What, Runs> runs_;
};

}  // namespace

void add_settings(Job& job) {
  SettingRows rows(job.run);
  std::uint32_t process = 0;
  for (const ProcessLog& log : job.logs) rows.add(process++, log);
  rows.finish();
}

}  // namespace uctrace::merge
