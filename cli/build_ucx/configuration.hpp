// Input and output of UCX's configure: texts in, texts out.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace uctrace::cli::build_ucx {

using Words = std::vector<std::string>;

struct UcxVersion {
  unsigned major = 0, minor = 0, patch = 0;
  std::string text() const;
};

// What `ucx_info -v` prints.
struct UcxInfo {
  std::string version;  // "1.13.1", empty if the text is not from ucx_info
  Words options;        // "Configured with"
};
UcxInfo parse_ucx_info(const std::string& text);

// "1.13.1-1", whatever follows the number.
std::optional<UcxVersion> parse_release(const std::string& text);

// The version of a source tree, from its configure.ac.
std::optional<UcxVersion> parse_version(const std::string& configure_ac);

// An option that is left out, and why.
struct Dropped {
  std::string option, why;
};

// The site's options that a private build takes over. Options about where and how the site's
// package was built are left out silently; options with a folder that does not exist here are
// dropped.
struct Taken {
  Words options;
  std::vector<Dropped> dropped;
};
Taken options_for_here(const Words& site);

// "--with-cuda=/usr/local/cuda" -> "cuda"; empty if it does not ask for a part of UCX.
std::string part_asked_for(const std::string& word);

// The output of a failed configure: its message, and the option that it cannot satisfy (by
// position).
struct Complaint {
  std::string message;
  std::optional<std::size_t> option;
};
Complaint complaint_in(const std::string& output, const Words& options);

// For a configure that succeeded: options that it does not know, and options for parts that it then
// left out.
std::vector<Dropped> left_out(const std::string& output, const Words& options);

// The package that an error line misses, empty if not known: "infiniband/verbs.h: No such file" ->
// "libibverbs-dev". Names are those of Debian.
std::string package_for(const std::string& text);

}  // namespace uctrace::cli::build_ucx
