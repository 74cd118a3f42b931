// How a printed command names the run of this command.
#pragma once

#include <string>

#include "cli/data-folder/data_choice.hpp"

namespace uctrace::cli {

// Words for a shell after a verb: the folder and the job; empty if the verb takes the same run
// without them.
std::string shown_folder(const DataChoice& data);

}  // namespace uctrace::cli
