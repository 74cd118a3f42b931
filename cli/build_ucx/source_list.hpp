// Makes a list of source packages out of the machine's lists of binary packages.
#pragma once

#include <string>

namespace uctrace::cli::build_ucx {

// The two forms that apt reads: *.list with one repository a line, *.sources with paragraphs.
enum class ListForm : unsigned char { lines, paragraphs };

// The same repositories as source repositories: mirrors, suites, keys and all else are kept.
// Disabled ones stay disabled.
std::string source_list_of(const std::string& list, ListForm form);

}  // namespace uctrace::cli::build_ucx
