// Makes Run::settings from the logs.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// After the rows of processes.
void add_settings(Job& job);

}  // namespace uctrace::merge
