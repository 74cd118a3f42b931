#include "log-merger/exports/export.hpp"

#include <cerrno>
#include <system_error>

#include "event-log/reader/error.hpp"
#include "log-merger/exports/formats.hpp"
#include "log-merger/exports/remarks.hpp"

namespace uctrace {
namespace {

void write(const RowSource& source, const ExportOptions& options, exports::Remarks& remarks) {
  switch (options.to) {
    case ExportTo::csv:
      return exports::write_csv(source, options, remarks);
    case ExportTo::perfetto:
      return exports::write_perfetto(source, options, remarks);
    case ExportTo::otf2:
      return exports::write_otf2(source, options, remarks);
  }
}

// What else a user can do besides naming another place; empty: nothing.
std::string to_do_against(const std::error_code& code) {
  if (code == std::errc::file_exists) return "remove it";
  if (code == std::errc::no_space_on_device || code == std::errc::file_too_large ||
      code.value() == EDQUOT) {
    return "make room";
  }
  if (code == std::errc::no_such_file_or_directory) return "make the folder that it is to be in";
  if (code == std::errc::too_many_files_open) return "allow more open files with `ulimit -n`";
  return "";
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::system_error& error) {
  const bool exists = error.code() == std::errc::file_exists;
  const std::string first = to_do_against(error.code());
  throw Error(
      {.what = "cannot write '" + path.string() + "'",
       .why = exists ? "something of this name is there already" : error.code().message(),
       .to_do = first + (first.empty() ? "" : ", or ") + "name another place with -o PATH"});
}

}  // namespace

const char* ending_of(ExportTo to) {
  switch (to) {
    case ExportTo::csv:
      return ".csv";
    case ExportTo::perfetto:
      return ".perfetto-trace";
    case ExportTo::otf2:
      return ".otf2";
  }
  return "";
}

void require_exportable(ExportTo to) {
  if (to == ExportTo::otf2) exports::require_otf2();
}

std::vector<std::string> export_run(const RowSource& source, const ExportOptions& options) {
  require_exportable(options.to);
  try {
    exports::Remarks remarks = exports::remarks_on(source);
    write(source, options, remarks);
    return remarks;
  } catch (const std::system_error& error) {
    refuse(options.path, error);
  }
}

}  // namespace uctrace
