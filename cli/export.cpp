#include "log-merger/exports/export.hpp"

#include <iostream>
#include <optional>
#include <system_error>

#include "cli/require_new.hpp"
#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

// Beside the data, not in it: that folder holds only files that uctrace reads again.
fs::path default_path(const fs::path& data, ExportTo to) {
  std::error_code error;
  const fs::path folder = fs::canonical(data, error);
  if (error || !folder.has_filename()) {
    throw Error({.what = "cannot name the export of '" + data.string() + "'",
                 .why = error ? error.message() : "it is the root of the file system",
                 .to_do = "name a place with -o PATH"});
  }
  return folder.parent_path() / (folder.filename().string() + ending_of(to));
}

ExportTo required(std::optional<ExportTo> to) {
  if (to) return *to;
  throw Error({.what = "export",
               .why = "it is not said which format to write",
               .to_do = "give --to otf2, perfetto or csv; see `uctrace help export`"});
}

}  // namespace

int run(const ExportCommand& command) {
  end_quietly_on_closed_pipe();
  const ExportTo to = required(command.to);
  require_exportable(to);
  const ExportOptions options = {
      .to = to,
      .path = command.output.empty() ? default_path(command.data.folder, to) : command.output,
      .p2p_mirror = command.p2p_mirror};
  require_new(options.path);  // before the run is merged
  std::vector<std::string> remarks;
  tell_run(command.data, std::cout,
           [&](std::ostream&, const RowSource& rows) { remarks = export_run(rows, options); });
  for (const std::string& remark : remarks) std::cerr << "uctrace: note: " << remark << '\n';
  std::cout << options.path.string() << '\n';
  return kOk;
}

}  // namespace uctrace::cli
