#include <iostream>

#include "cli/verbs.hpp"

namespace uctrace::cli {

int run(const PrintCommand& command) {
  std::cout << command.text;
  return kOk;
}

}  // namespace uctrace::cli
