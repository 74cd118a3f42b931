#include "cli/build_ucx/source_list.hpp"

#include <regex>

#include "cli/check/child.hpp"

namespace uctrace::cli::build_ucx {

std::string source_list_of(const std::string& list, ListForm form) {
  static const std::regex line_type("^[ \t]*deb(?=[ \t])");
  static const std::regex field("^Types:.*", std::regex::icase);
  // Sources have no architecture: a restriction to one does not apply.
  static const std::regex architecture("([\\[ \t])arch=[^\\] \t]*[ \t]*", std::regex::icase);
  std::string sources;
  for (const std::string& line : check::lines_of(list)) {
    if (form == ListForm::paragraphs) {
      if (std::regex_search(line, std::regex("^Architectures:", std::regex::icase))) continue;
      sources += std::regex_replace(line, field, "Types: deb-src") + "\n";
    } else if (std::regex_search(line, line_type)) {
      const std::string asked = std::regex_replace(line, line_type, "deb-src");
      sources += std::regex_replace(asked, architecture, "$1") + "\n";
    }
  }
  return sources;
}

}  // namespace uctrace::cli::build_ucx
