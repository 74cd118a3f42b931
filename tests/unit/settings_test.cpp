// Which processes have which setting, and how that is reported.
#include "log-merger/summaries/settings.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "event-log/format/setting_names.hpp"
#include "log-merger/model/transport_names.hpp"
#include "log-merger/summaries/offers.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

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

std::string why_not(const Run& run, std::string_view transport) {
  for (const UnopenedTransport& row : unopened_transports(run)) {
    if (run.texts[row.transport] == transport) return row.why;
  }
  return "";
}

TEST_CASE("what UCX was offered and did not open, and why") {
  Run run;
  add_processes(run, 3);
  set(run, SettingFrom::environment, "UCX_TLS", "tcp,self", 1, 2);
  set(run, SettingFrom::environment, "UCX_NET_DEVICES", "mlx5_0:1,eth0", 0, 3);
  set(run, SettingFrom::opened, "tcp", "eth0", 0, 3);
  set(run, SettingFrom::opened, "cma", "memory", 0, 1);
  set(run, SettingFrom::opened, "rc_mlx5", "mlx5_0:1", 0, 1);
  set(run, SettingFrom::offered, "tcp", "eth0", 0, 3);
  set(run, SettingFrom::offered, "tcp", "lo", 0, 3);
  set(run, SettingFrom::offered, "cma", "memory", 0, 3);
  set(run, SettingFrom::offered, "rc_mlx5", "mlx5_0:1", 0, 1);
  set(run, SettingFrom::offered, "ud_mlx5", "mlx5_0:1", 0, 1);
  set(run, SettingFrom::component, "ib", "1", 0, 1);
  set(run, SettingFrom::component, "ib", "0", 1, 2);
  set(run, SettingFrom::component, "knem", "0", 0, 3);
  const auto rows = unopened_transports(run);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].processes == ProcessList{1, 2});
  CHECK(why_not(run, "cma") == "UCX_TLS=tcp,self leaves it out");
  CHECK(why_not(run, "tcp") == "UCX_NET_DEVICES=mlx5_0:1,eth0 leaves it out");
  CHECK(why_not(run, "ud_mlx5") == "UCX chose others");
  CHECK(why_not(run, "rc_mlx5").empty());
  CHECK(why_not_opened(run, "cma", 1) == "UCX_TLS=tcp,self leaves it out");
  CHECK_FALSE(why_not_opened(run, "cma", 0).has_value());  // it opened it
  CHECK(why_not_opened(run, "xpmem", 0) == "");
  CHECK_FALSE(why_not_opened(Run{}, "cma", 0).has_value());
  REQUIRE(components_without_device(run).size() == 1);  // ib has one in process 0
  const std::vector<std::string> lines = setting_lines(run);
  const auto has = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(
      has("UCX was offered cma on memory and did not open it: UCX_TLS=tcp,self leaves it out  "
          "ranks 1, 2 only"));
  CHECK(
      has("UCX was offered tcp on lo and did not open it: UCX_NET_DEVICES=mlx5_0:1,eth0 leaves it "
          "out"));
  CHECK(has("UCX has parts that found no device: knem"));
  const auto json = settings_json(run);
  const auto is_left_out = [](const auto& row) { return row["from"] == "left_out"; };
  const auto told = std::find_if(json.begin(), json.end(), is_left_out);
  REQUIRE(told != json.end());
  CHECK((*told)["name"] == "cma");
  CHECK((*told)["why"] == "UCX_TLS=tcp,self leaves it out");
  std::vector<std::string> of_ib;
  for (const auto& row : json) {
    if (row["from"] != "component" || row["name"] != "ib") continue;
    CHECK(row["differs"] == true);
    of_ib.push_back(row["value"].get<std::string>() + ": " + row["of"].get<std::string>());
  }
  std::sort(of_ib.begin(), of_ib.end());
  CHECK(of_ib == std::vector<std::string>{"0: ranks 1, 2", "1: rank 0"});
  // Offers are no settings.
  CHECK(settings_of(run).size() == 2);
  CHECK_FALSE(setting_of(run, "tcp", 0).has_value());
}

TEST_CASE("what a pattern of devices means is not claimed, for it depends on the release of UCX") {
  const auto of = [](const char* value) {
    Run run;
    add_processes(run, 1);
    set(run, SettingFrom::environment, "UCX_NET_DEVICES", value, 0, 1);
    set(run, SettingFrom::offered, "rc_mlx5", "mlx5_0:1", 0, 1);
    return why_not(run, "rc_mlx5");
  };
  CHECK(of("mlx5_0:1") == "UCX chose others");
  CHECK(of("all") == "UCX chose others");
  CHECK(of("eth0,mlx5_1:1") == "UCX_NET_DEVICES=eth0,mlx5_1:1 leaves it out");
  CHECK(of("mlx5_0") == "UCX_NET_DEVICES=mlx5_0 may leave it out");
  CHECK(of("mlx5_[0-3]:1") == "UCX_NET_DEVICES=mlx5_[0-3]:1 may leave it out");
  CHECK(of("^mlx5_0:1") == "UCX_NET_DEVICES=^mlx5_0:1 may leave it out");
}

TEST_CASE("what UCX_TLS allows") {
  CHECK(tls_allow("\\rc_mlx5", "rc_mlx5"));
  CHECK_FALSE(tls_allow("\\rc", "rc_mlx5"));
  CHECK(tls_allow("all", "rc_mlx5"));
  CHECK(tls_allow("self,sm", "cma"));
  CHECK(tls_allow("rc_x,self", "rc_mlx5"));
  CHECK_FALSE(tls_allow("rc_x,self", "rc_verbs"));
  CHECK(tls_allow("ud:aux,tcp", "ud_mlx5"));
  CHECK_FALSE(tls_allow("tcp,self", "cma"));
  CHECK_FALSE(tls_allow("^ib", "dc_mlx5"));
  CHECK(tls_allow("^ib", "tcp"));
  CHECK_FALSE(tls_allow("", "tcp"));
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
