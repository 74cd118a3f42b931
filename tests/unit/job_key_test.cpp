#include "event-log/recorder/job_key.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <map>
#include <string>

namespace uctrace::log {
namespace {

using Settings = std::map<std::string, std::string>;

constexpr const char* kRead[] = {"UCTRACE_JOB",    "UCTRACE_LAUNCH", "PMI_RANK",
                                 "PMIX_NAMESPACE", "PALS_APID",      "ALPS_APP_ID",
                                 "FLUX_JOB_ID",    "SLURM_JOB_ID",   "SLURM_STEP_ID"};

std::string key_with(const Settings& settings) {
  for (const char* name : kRead) unsetenv(name);
  for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1);
  char key[64];
  write_job_key(key, sizeof key);
  for (const char* name : kRead) unsetenv(name);
  return key;
}

TEST_CASE("the job's key is the recording's and the launcher's") {
  CHECK(key_with({}) == "");
  CHECK(key_with({{"UCTRACE_JOB", "ab"}}) == "ab");
  CHECK(key_with({{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "2"}}) == "slurm-7.2");
  CHECK(key_with({{"SLURM_JOB_ID", "7"}, {"UCTRACE_JOB", "ab"}}) == "ab.slurm-7");
  CHECK(key_with({{"SLURM_JOB_ID", "7"}, {"PMIX_NAMESPACE", "slurm.pmix.7.0"}}) ==
        "pmix-slurm.pmix.7.0");
  CHECK(key_with({{"FLUX_JOB_ID", "f12"}}) == "flux-f12");
  CHECK(key_with({{"UCTRACE_LAUNCH", "hydra-a:1"}}) == "hydra-a:1");
  CHECK(key_with({{"UCTRACE_LAUNCH", "hydra-a:1"}, {"PMIX_NAMESPACE", "x"}}) == "pmix-x");
}

TEST_CASE("worlds that Open MPI spawns belong to the job of their parent") {
  const auto of_space = [](const char* space) { return key_with({{"PMIX_NAMESPACE", space}}); };
  CHECK(of_space("1367539713") == of_space("1367539714"));
  CHECK(of_space("1367539713") != of_space("1367605249"));
  CHECK(of_space("prterun-host-12@1") == of_space("prterun-host-12@2"));
  CHECK(of_space("prte-host-12@1") != of_space("prte-host-12@2"));
}

TEST_CASE("a long name stays a name of its own") {
  const std::string host(80, 'h'), job(32, 'j');
  const auto key = [&](const char* port) {
    return key_with({{"UCTRACE_JOB", job}, {"PMIX_NAMESPACE", host + port}});
  };
  CHECK(key("1") == key("1"));
  CHECK(key("1") != key("2"));
  CHECK(key("1").starts_with(job + ".launch-"));
  CHECK(key("1").size() < 64);
}

}  // namespace
}  // namespace uctrace::log
