// The messages of `record` on standard error: before and after the job.
#pragma once

#include <filesystem>
#include <string>

#include "cli/data-folder/data_folder.hpp"
#include "cli/data-folder/job_log.hpp"
#include "cli/launching/run_program.hpp"
#include "cli/verbs.hpp"

namespace uctrace::cli {

// Prints a line as plain text: the names of hosts, files and programs come from others.
void say(const std::string& line);
void say_warning(const std::string& line);

// Where the job is recorded, and what prevents it.
void say_before(const DataFolder& folder);

// The signal that ended the command; nothing if none did.
void say_end(const ProgramEnd& end);

// What was recorded, and warnings. `data`: the folder as a person would name it; `kept` holds the
// logs that stay, `lost` those of processes that could not write there.
void say_after(const std::filesystem::path& data, const RecordCommand& command, const JobLog& kept,
               const JobLog& lost, const ProgramEnd& end);

// Nothing was recorded: the reason depends on whether recording was possible, and on how the
// command ended.
void say_nothing(const DataFolder& folder, const ProgramEnd& end, const JobLog& kept);

}  // namespace uctrace::cli
