// What is said of what went wrong. Where nobody else says it, standard error does: at once and in
// one piece, since other ranks, and the launcher, write there, too.
#pragma once

#include <chrono>
#include <exception>
#include <string>

namespace uctrace::cli {

// What is said of it: one line.
std::string failure_text(const std::exception& failure);

// One line: why the command, or this rank of it, ends.
void tell_failure(const std::exception& failure);

// A launcher ends all ranks with the first one that fails, and may then drop what it has not read
// yet: what is told before an end of all needs this time.
inline constexpr std::chrono::milliseconds kTimeToSpeak{300};

// One line: what is not as it was asked for. The command goes on.
void warn(const std::string& what, const std::string& why);

}  // namespace uctrace::cli
