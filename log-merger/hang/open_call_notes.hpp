// Notes on where the processes of an unfinished job sit.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// A note for each place where processes that did not end properly sit, in the words of `uctrace
// hang`. Call it after the rows of the run were made.
void note_open_calls(Job& job);

}  // namespace uctrace::merge
