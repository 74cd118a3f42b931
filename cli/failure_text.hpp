// Words for failures. What nobody else reports goes to standard error: at once and in one piece,
// because other ranks and the launcher write there, too.
#pragma once

#include <chrono>
#include <exception>
#include <string>

namespace uctrace::cli {

// What is said of it: one line.
std::string failure_text(const std::exception& failure);

// One line: why the command, or this rank of it, ends.
void tell_failure(const std::exception& failure);

// A launcher ends all ranks after the first failure, and may drop output that it has not read yet:
// so a last message needs this time.
inline constexpr std::chrono::milliseconds kTimeToSpeak{300};

// One line about something that differs from the request. The command goes on.
void warn(const std::string& what, const std::string& why);

}  // namespace uctrace::cli
