// A run in the formats of other tools (docs/export.md): CSV, Perfetto's TrackEvents, OTF2. Rows are
// read a part at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

enum class ExportTo : std::uint8_t { otf2, perfetto, csv };

// Where an OTF2 archive puts the sends of partitioned communication: in the last MPI_Pready of the
// round, in the MPI_Start that began it, or nowhere.
enum class P2pMirror : std::uint8_t { last_pready, start, none };

struct ExportOptions {
  ExportTo to = ExportTo::csv;
  std::filesystem::path path;  // of the folder (otf2, csv) or the file (perfetto)
  P2pMirror p2p_mirror = P2pMirror::last_pready;
};

// The ending of an export's name, after that of its data.
const char* ending_of(ExportTo to);

// Throws Error that says what to install, if this build cannot write it.
void require_exportable(ExportTo to);

// Makes the export at options.path, a name that must be free, completely or not at all. Returns
// what is missing or doubtful in it, one line each for a person; the export contains these, too.
// Throws Error.
std::vector<std::string> export_run(const RowSource& source, const ExportOptions& options);

}  // namespace uctrace
