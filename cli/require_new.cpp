#include "cli/require_new.hpp"

#include <system_error>

#include "event-log/reader/error.hpp"

namespace uctrace::cli {

namespace fs = std::filesystem;

void require_new(const fs::path& path) {
  std::error_code ignored;
  const fs::path name = path.has_filename() ? path : path.parent_path();
  if (!fs::exists(fs::symlink_status(name, ignored))) return;
  throw Error({.what = "cannot write '" + path.string() + "'",
               .why = "something of this name is there already",
               .to_do = "remove it, or name another place with -o PATH"});
}

}  // namespace uctrace::cli
