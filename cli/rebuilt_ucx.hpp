// The UCX that `record --ucx PREFIX` puts into the job (docs/rebuilt-ucx.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace uctrace::cli {

struct RebuiltUcx {
  std::vector<std::string> libraries;  // to preload, in this order
  std::string libuct;                  // the one of them that the recording is tied to
};

// Throws Error if the prefix holds no UCX, or one that `uctrace build-ucx` did not make.
RebuiltUcx find_rebuilt_ucx(const std::filesystem::path& prefix);

}  // namespace uctrace::cli
