#include "log-merger/exports/output.hpp"

#include <cerrno>
#include <system_error>

#include "log-merger/folder/new_file.hpp"

namespace uctrace::exports {

void Output::flush() {
  if (!write_all(fd_, text_)) throw std::system_error(errno, std::generic_category(), "writing");
  text_.clear();
}

}  // namespace uctrace::exports
