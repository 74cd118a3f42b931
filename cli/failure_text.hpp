// What is said of what went wrong, and where: standard error. At once and in one piece, since other
// ranks, and the launcher, write there, too.
#pragma once

#include <exception>
#include <string>

namespace uctrace::cli {

// One line: why the command, or this rank of it, ends.
void tell_failure(const std::exception& failure);

// One line: what is not as it was asked for. The command goes on.
void warn(const std::string& what, const std::string& why);

}  // namespace uctrace::cli
