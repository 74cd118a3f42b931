#include "cli/data-folder/default_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "event-log/format/file_name.hpp"
#include "event-log/format/fnv.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamed = 8;

using Variable = std::function<const char*(const char*)>;

// Empty outside of batch jobs.
std::string batch_job(const Variable& variable) {
  const auto value = [&](const char* name) -> std::string {
    const char* text = variable(name);
    return text != nullptr ? text : "";
  };
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID"}) {
    if (const std::string id = value(name); !id.empty()) return id;
  }
  if (const std::string id = value("LSB_JOBID"); !id.empty()) {
    // The jobs of an array share one id.
    const std::string index = value("LSB_JOBINDEX");
    return index.empty() || index == "0" ? id : id + "." + index;
  }
  // Flux does not tell batch scripts their id, but tells all steps of a job its instance.
  if (const std::string id = value("FLUX_JOB_ID"); !id.empty()) return id;
  const std::string instance = value("FLUX_URI");
  return instance.empty() ? "" : fmt::format("flux-{:08x}", log::fnv32(instance));
}

// Folders beside the default one that `record` made, by name.
std::vector<std::string> others() {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(".", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    const bool is_kin =
        name == kDefaultFolder || name.starts_with(std::string(kDefaultFolder) + ".");
    if (is_kin && fs::exists(it->path() / kMarkerFile, ignored)) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

fs::path default_folder() {
  return default_folder([](const char* name) -> const char* { return std::getenv(name); });
}

fs::path default_folder(const Variable& variable) {
  const std::string job = batch_job(variable);
  if (job.empty()) return kDefaultFolder;
  log::NamePart part;
  return fmt::format("{}.{}", kDefaultFolder, log::write_name_part(part, job.c_str()));
}

void require_choice(const fs::path& folder) {
  std::error_code error;
  if (folder != default_folder() || fs::exists(folder, error)) return;
  std::vector<std::string> names = others();
  if (names.empty()) return;
  const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  throw Error({.what = fmt::format("there is no {}", folder.string()),
               .why = names.size() == 1 ? "`uctrace record` made another folder"
                                        : "`uctrace record` made other folders",
               .to_do = fmt::format("name {}{}{}",
                                    names.size() == 1 ? "it: " : "one of: ", fmt::join(names, ", "),
                                    more != 0 ? fmt::format(", and {} more", more) : "")});
}

}  // namespace uctrace::cli
