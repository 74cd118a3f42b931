// The one exception of uctrace's offline code. Verbs catch it in one place and print message().
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "event-log/reader/plain_text.hpp"

namespace uctrace {

// What failed, why, and what the user can do about it: sentence parts without a final stop.
struct Problem {
  std::string what;
  std::string why;
  std::string to_do;
};

class Error : public std::exception {
 public:
  explicit Error(Problem problem)
      : problem_(std::move(problem)),
        message_(one_line(problem_.what + ": " + problem_.why + "; " + problem_.to_do + ".")) {}

  const Problem& problem() const noexcept { return problem_; }

  // One line for a user: "what: why; to do."
  const std::string& message() const noexcept { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  static std::string one_line(std::string text) {
    for (char& c : text) {
      if (c == '\n' || c == '\t') c = ' ';
    }
    return plain_text(text);
  }

  Problem problem_;
  std::string message_;
};

}  // namespace uctrace
