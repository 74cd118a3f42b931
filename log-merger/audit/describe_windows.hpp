// Reports that the user chose to record only a part of the events: the keys `windows` and
// `recording` of `info --format json` (docs/info.md), and a note. Private to log-merger/.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

nlohmann::ordered_json windows_json(const Job& job);
nlohmann::ordered_json recording_json(const Job& job);
void note_recording(Job& job);

}  // namespace uctrace::merge
