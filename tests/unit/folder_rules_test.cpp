// Which folders `record` may use, and their default names.
#include "cli/data-folder/folder_rules.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>

#include "cli/data-folder/default_folder.hpp"
#include "event-log/format/file_name.hpp"
#include "log-merger/folder/data_files.hpp"

namespace uctrace::cli::test {
namespace {

using Type = std::filesystem::file_type;

Listing folder_of(std::vector<Listing::Entry> entries) {
  return {.type = Type::directory, .unreadable = {}, .entries = std::move(entries)};
}

Listing files(std::initializer_list<const char*> names) {
  std::vector<Listing::Entry> entries;
  for (const char* name : names) entries.push_back({name, Type::regular});
  return folder_of(std::move(entries));
}

FolderKind kind_of(const Listing& listing) { return judge(listing).kind; }

std::string name_part(const std::string& text) {
  log::NamePart part;
  return log::write_name_part(part, text.c_str());
}

std::string default_in(const std::map<std::string, std::string>& environment) {
  return default_folder([&](const char* name) -> const char* {
           const auto found = environment.find(name);
           return found == environment.end() ? nullptr : found->second.c_str();
         })
      .string();
}

}  // namespace

TEST_CASE("a folder is the tool's own by its marker alone") {
  CHECK(kind_of({.unreadable = {}, .entries = {}}) == FolderKind::missing);
  CHECK(kind_of(files({})) == FolderKind::empty);
  CHECK(kind_of(files({"uctrace.folder"})) == FolderKind::ours);
  CHECK(kind_of(files({"uctrace.folder", "run.json"})) == FolderKind::older_run);
  for (const char* name : {"run.json", "run.h5", "profile.db", "report.html", "libuctrace.so",
                           "a-b-1-2-3.ulog", "a-b-1-2-3.ulog.live", "a-b.topology.xml"}) {
    CAPTURE(name);
    CHECK(kind_of(files({name})) == FolderKind::foreign);
    CHECK(judge(files({name})).why.find("no uctrace.folder") != std::string::npos);
  }
}

TEST_CASE("what is no part of a run does not make an older run") {
  CHECK(kind_of(files({"uctrace.folder", "host-12345678.lease"})) == FolderKind::ours);
  CHECK(kind_of(files({"uctrace.folder", "host-12345678.lease.uctrace-new-abcdef123456"})) ==
        FolderKind::ours);
  CHECK(kind_of(files({"uctrace.folder", "libuctrace.so"})) == FolderKind::ours);
  CHECK(kind_of(files({"uctrace.folder.uctrace-new-abcdef123456"})) == FolderKind::empty);
  CHECK(kind_of(files({"uctrace.folder", ".nfs000012"})) == FolderKind::ours);
  CHECK(kind_of(files({"uctrace.folder", "a.ulog.live"})) == FolderKind::older_run);
  CHECK(kind_of(files({"uctrace.folder", "launcher-file-12345678-0"})) == FolderKind::older_run);
}

TEST_CASE("anything foreign makes a folder foreign, and is named") {
  for (const char* name : {"main.c", "run.json~", ".git", "x.ulog.bak", "uctrace.folder.txt"}) {
    CAPTURE(name);
    const FolderVerdict verdict = judge(files({"a.ulog", name, "uctrace.folder"}));
    CHECK(verdict.kind == FolderKind::foreign);
    CHECK(verdict.why.find("'" + std::string(name) + "'") != std::string::npos);
  }
  // By type, whatever the name is.
  for (const Type type : {Type::symlink, Type::directory, Type::fifo, Type::character}) {
    CHECK(kind_of(folder_of({{"run.json", type}, {"uctrace.folder", Type::regular}})) ==
          FolderKind::foreign);
    CHECK(kind_of(folder_of({{"uctrace.folder", type}})) == FolderKind::foreign);
  }
  CHECK(kind_of(folder_of({{"libuctrace.so", Type::symlink}, {"uctrace.folder", Type::regular}})) ==
        FolderKind::ours);
}

TEST_CASE("what is no folder, or cannot be read, is foreign") {
  CHECK(kind_of({.type = Type::regular, .unreadable = {}, .entries = {}}) == FolderKind::foreign);
  CHECK(kind_of({.is_link = true, .unreadable = {}, .entries = {}}) == FolderKind::foreign);
  CHECK(kind_of({.type = Type::directory, .unreadable = "Permission denied", .entries = {}}) ==
        FolderKind::foreign);
}

TEST_CASE("the logs of a host are sources whatever its name is") {
  for (const char* host : {"node1", "gpu1.new-york.example", "a.uctrace-new-abcdef123456.b"}) {
    const std::string log = std::string(host) + "-12345678-1-2-3.ulog";
    CHECK(is_data_file(log));
    CHECK(is_log_file(log));
    CHECK(is_log_file(log + ".live"));
    CHECK_FALSE(is_log_file(log + kUnfinished + "abcdef123456"));
    CHECK(is_data_file(log + kUnfinished + "abcdef123456"));
    CHECK_FALSE(is_data_file(log + kUnfinished + "of-mine"));
  }
}

TEST_CASE("names of hosts and jobs become parts of file names") {
  CHECK(name_part("node-17.example_2") == "node-17.example_2");
  CHECK(name_part("../../etc") == "_._.._etc");
  CHECK(name_part("a/b c\n\x01") == "a_b_c__");
  CHECK(name_part("-rf") == "_rf");
  CHECK(name_part(".hidden") == "_hidden");
  CHECK(name_part("\xc3\xa4") == "__");
  CHECK(name_part("") == "_");
  CHECK(name_part(std::string(300, 'x')) == std::string(log::kLongestNamePart, 'x'));
}

TEST_CASE("the default folder is a batch job's own") {
  CHECK(default_in({}) == "uctrace.data");
  CHECK(default_in({{"SLURM_JOB_ID", "4711"}}) == "uctrace.data.4711");
  CHECK(default_in({{"PBS_JOBID", "12[3].server"}}) == "uctrace.data.12_3_.server");
  CHECK(default_in({{"LSB_JOBID", "7"}, {"LSB_JOBINDEX", "0"}}) == "uctrace.data.7");
  CHECK(default_in({{"LSB_JOBID", "7"}, {"LSB_JOBINDEX", "2"}}) == "uctrace.data.7.2");
  CHECK(default_in({{"FLUX_JOB_ID",
                     "\xc6\x92"
                     "2oLkTLb"}}) == "uctrace.data.__2oLkTLb");
  CHECK(default_in({{"FLUX_URI", "local:///run/a"}, {"FLUX_JOB_ID", "f7"}}) == "uctrace.data.f7");
  const auto instance = default_in({{"FLUX_URI", "local:///run/a"}});
  CHECK(instance.starts_with("uctrace.data.flux-"));
  CHECK(instance != default_in({{"FLUX_URI", "local:///run/b"}}));
  CHECK(default_in({{"SLURM_JOB_ID", ""}, {"PBS_JOBID", "../x"}}) == "uctrace.data._._x");
}

}  // namespace uctrace::cli::test
