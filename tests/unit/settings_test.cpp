// Who has which setting, and how that is said.
#include "log-merger/summaries/settings.hpp"

#include <doctest/doctest.h>

#include "event-log/format/setting_names.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

void set(Run& run, SettingFrom from, const char* name, const char* value, std::uint32_t first,
         std::uint32_t processes) {
  run.settings.push_back({run.texts.intern(name), run.texts.intern(value), from, first, processes});
}

TEST_CASE("names of settings are taken, secrets and all else are not") {
  for (const char* name : {"UCX_TLS", "OMPI_MCA_pml", "PRTE_MCA_x", "PMIX_MCA_gds", "MPIR_CVAR_X",
                           "MPICH_ASYNC_PROGRESS", "HYDRA_LAUNCHER", "SLURM_CPU_BIND"}) {
    CAPTURE(name);
    CHECK(log::is_setting(name));
  }
  for (const char* name : {"PATH", "HOME", "UCX", "SLURM_JOB_ID", "MY_UCX_TLS", "AWS_SECRET_KEY",
                           "OMPI_MCA_orte_precondition_transports", "UCX_MY_Secret",
                           "OMPI_MCA_some_password", "MPICH_TOKEN"}) {
    CAPTURE(name);
    CHECK_FALSE(log::is_setting(name));
  }
}

TEST_CASE("processes are named by rank") {
  Run run;
  add_processes(run, 6);
  CHECK(processes_text(run, {3}) == "rank 3");
  CHECK(processes_text(run, {0, 1, 2, 5}) == "ranks 0-2, 5");
  CHECK(processes_text(run, {0, 1, 2, 3, 4, 5}) == "all 6 processes");
  run.processes[5].rank = -1;
  CHECK(processes_text(run, {0, 5}).starts_with("rank 0, "));
}

TEST_CASE("values are joined by name, those of most processes first, and who has none is known") {
  Run run;
  add_processes(run, 5);
  set(run, SettingFrom::environment, "UCX_TLS", "sm", 0, 1);
  set(run, SettingFrom::environment, "UCX_TLS", "tcp", 1, 1);
  set(run, SettingFrom::environment, "UCX_TLS", "tcp", 3, 1);
  set(run, SettingFrom::system, "memlock", "8388608", 0, 5);
  set(run, SettingFrom::opened, "tcp", "eth0", 1, 1);
  set(run, SettingFrom::opened, "tcp", "lo", 1, 4);
  const auto settings = settings_of(run);
  REQUIRE(settings.size() == 2);
  CHECK(run.texts[settings[0].values[0].value] == "tcp");
  CHECK(settings[0].values[0].processes == ProcessList{1, 3});
  CHECK(settings[0].unset == ProcessList{2, 4});
  CHECK(settings[0].differs());
  CHECK_FALSE(settings[1].differs());
  CHECK(setting_of(run, "UCX_TLS", 3) == "tcp");
  CHECK_FALSE(setting_of(run, "UCX_TLS", 2).has_value());
  CHECK(setting_lines(run) ==
        std::vector<std::string>{"UCX_TLS=tcp  ranks 1, 3 only", "UCX_TLS=sm  rank 0 only",
                                 "memlock=8.0 MiB", "UCX opened tcp on eth0, lo  ranks 1-4 only"});
  CHECK(short_settings(run) == "UCX_TLS=tcp (ranks 1, 3), UCX_TLS=sm (rank 0)");
  const auto json = settings_json(run);
  CHECK(json[0]["runs"] == nlohmann::ordered_json::array({{1, 1}, {3, 1}}));
  CHECK(json[2]["value"] == "8388608");
  CHECK(json[3]["from"] == "opened");
}

TEST_CASE("the environment counts before files") {
  Run run;
  add_processes(run, 1);
  set(run, SettingFrom::environment, "OMPI_MCA_pml", "ucx", 0, 1);
  set(run, SettingFrom::mpi_file, "OMPI_MCA_pml", "^ucx", 0, 1);
  CHECK(setting_of(run, "OMPI_MCA_pml", 0) == "ucx");
}

}  // namespace
}  // namespace uctrace
