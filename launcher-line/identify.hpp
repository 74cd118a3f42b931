// Which launcher a program is.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launcher-line/edit.hpp"
#include "launcher-line/options.hpp"

namespace uctrace::launcher {

struct Programs {
  // The file that would run, with all links resolved; empty if there is none.
  std::function<std::string(const std::string& name)> resolved;
  // The output of `NAME --version`; empty if that does not end in time.
  std::function<std::string(const std::string& name)> version;
};

// By the name, else by the name of the file that it resolves to. Only if several implementations
// share the name is the program itself asked.
Kind identify(const std::string& program, const Programs& programs);

// The options of a launcher; none for Kind::none.
const OptionTable* option_table(Kind kind);

}  // namespace uctrace::launcher
