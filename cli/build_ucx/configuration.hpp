// What UCX's configure is told and what it answers: texts in, texts out.
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
  std::string version;  // "1.13.1", empty if the text is of no ucx_info
  Words options;        // "Configured with"
};
UcxInfo parse_ucx_info(const std::string& text);

// "1.13.1-1", whatever follows the number.
std::optional<UcxVersion> parse_release(const std::string& text);

// Of a source tree, from its configure.ac.
std::optional<UcxVersion> parse_version(const std::string& configure_ac);

// An option that is left out, and why.
struct Dropped {
  std::string option, why;
};

// What a private build takes over of a site's options. Those that say where and how the site's
// package was built are left out without a word; those that name a folder which is not here are
// dropped.
struct Taken {
  Words options;
  std::vector<Dropped> dropped;
};
Taken options_for_here(const Words& site);

// "--with-cuda=/usr/local/cuda" -> "cuda"; empty for what asks for no part of UCX.
std::string part_asked_for(const std::string& word);

// Of a configure that failed: its message, and which of the options it cannot fulfil (by position).
struct Complaint {
  std::string message;
  std::optional<std::size_t> option;
};
Complaint complaint_in(const std::string& output, const Words& options);

// Of a configure that succeeded: options that it does not know, and those that ask for a part which
// it then left out.
std::vector<Dropped> left_out(const std::string& output, const Words& options);

// The package that a line of an error wants, empty if that is not known: "infiniband/verbs.h: No
// such file" -> "libibverbs-dev". Names are those of Debian.
std::string package_for(const std::string& text);

}  // namespace uctrace::cli::build_ucx
