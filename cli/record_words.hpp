// What `record` says on standard error: before the job, and of what is left of it.
#pragma once

#include <filesystem>
#include <string>

#include "cli/data-folder/data_folder.hpp"
#include "cli/data-folder/job_log.hpp"
#include "cli/launching/run_program.hpp"
#include "cli/verbs.hpp"

namespace uctrace::cli {

// A line. Hosts, files and programs have names that others chose: it is shown as plain text.
void say(const std::string& line);
void say_warning(const std::string& line);

// Where the job is recorded, and what is in the way of it.
void say_before(const DataFolder& folder);

// The signal that ended the command; nothing where none did.
void say_end(const ProgramEnd& end);

// What was recorded, and what is wrong with it. `data`: the folder as a person would name it;
// `kept` holds the logs that stay, `lost` those of processes that could not write there.
void say_after(const std::filesystem::path& data, const RecordCommand& command, const JobLog& kept,
               const JobLog& lost, const ProgramEnd& end);

// Nothing was recorded: why depends on whether it could be, and on how the command ended.
void say_nothing(const DataFolder& folder, const ProgramEnd& end, const JobLog& kept);

}  // namespace uctrace::cli
