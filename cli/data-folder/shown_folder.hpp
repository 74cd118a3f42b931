// The run of a command as a printed command names it.
#pragma once

#include <string>

#include "cli/data-folder/data_choice.hpp"

namespace uctrace::cli {

// Words for a shell, behind a verb: the folder and the job; empty where the verb takes the same run
// without them.
std::string shown_folder(const DataChoice& data);

}  // namespace uctrace::cli
