// The formats, one function each. Private to the room. If something cannot be written, they throw
// std::system_error and leave nothing behind.
#pragma once

#include "log-merger/exports/export.hpp"

namespace uctrace::exports {

// `remarks`: what is missing or doubtful in the run. A format adds what it cannot show.
using Remarks = std::vector<std::string>;

void write_csv(const RowSource& source, const ExportOptions& options, Remarks& remarks);
void write_perfetto(const RowSource& source, const ExportOptions& options, Remarks& remarks);
// Throws Error that says what to install, if this build has no OTF2.
void require_otf2();
void write_otf2(const RowSource& source, const ExportOptions& options, Remarks& remarks);

}  // namespace uctrace::exports
