#include "cli/command-line/shared_options.hpp"

#include <fmt/format.h>

#include "cli/command-line/option_kinds.hpp"
#include "cli/command-line/size_option.hpp"

namespace uctrace::cli {
namespace {

const Choices<Format> kFormats = {{"table", Format::table},
                                  {"csv", Format::csv},
                                  {"json", Format::json},
                                  {"ndjson", Format::ndjson}};

// Even with spilling, the command itself and the definitions of a run of many processes stay in
// memory.
constexpr std::uint64_t kLeastMemory = std::uint64_t{64} << 20;

}  // namespace

void add_format(CLI::App& verb, Format& format) {
  add_choice(verb, "--format", format, kFormats, "How to print [table]");
}

void add_wide(CLI::App& verb, bool& wide) {
  verb.add_flag("--wide", wide, "Keep lines at their full length, even on a narrow terminal");
}

void add_data(CLI::App& verb, DataChoice& data) {
  add_path(verb, "DIR", data.folder, "",
           fmt::format("Folder with the data [{}]", kDefaultFolderText));
  add_path(verb, "--store", data.store, "DIR",
           "Folder for the merged run [the data's; one in ~/.cache if that is not yours]");
  add_threads(verb, data.threads);
  add_size(verb, "--memory", data.memory_bytes, kLeastMemory,
           "Most memory that merging takes; more goes to a file beside the merged run [3/4 of what "
           "is available]");
}

void add_job(CLI::App& verb, DataChoice& data) {
  add_job(verb, data.job, "A job of the folder other than the newest");
}

void add_job(CLI::App& verb, std::string& job, const std::string& help) {
  verb.add_option("--job", job, help)->check(not_empty("--job"))->type_name("JOB");
}

void add_span(CLI::App& verb, std::optional<std::uint64_t>& from,
              std::optional<std::uint64_t>& to) {
  add_time(verb, "--from", from, "Messages that start at TIME of the run or later");
  add_time(verb, "--to", to, "Messages that start before TIME");
}

void add_filter(CLI::App& verb, FilterSpec& filter) {
  for (const NamedCriterion& criterion : kNamedCriteria) {
    const std::string option = fmt::format("--{}", criterion.name);
    const Words values = criterion.values != nullptr ? criterion.values() : Words();
    CLI::Option* const added =
        add_list(verb, option.c_str(), filter.*criterion.asked, criterion.meaning,
                 values.empty() ? "A,B" : joined(values).c_str());
    if (!values.empty()) added->check(one_of(option, values));
  }
  add_bytes(verb, "--min-bytes", filter.min_bytes, "Least payload of a message");
  add_bytes(verb, "--max-bytes", filter.max_bytes, "Greatest payload of a message");
  add_span(verb, filter.from_ns, filter.to_ns);
  verb.add_flag("--skip-first", filter.skip_first,
                "Leave out the first message of each pair of processes")
      ->group(kChoosing);
}

}  // namespace uctrace::cli
