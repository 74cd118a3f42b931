// Which launcher a program is.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "launcher-line/edit.hpp"
#include "launcher-line/options.hpp"

namespace uctrace::launcher {

struct Programs {
  // The file that would be run, with every link followed; empty if there is none.
  std::function<std::string(const std::string& name)> resolved;
  // What `NAME --version` prints; empty if it does not end in time.
  std::function<std::string(const std::string& name)> version;
};

// By the name, else by the name of the file behind it, and only for a name that several
// implementations share by asking the program itself.
Kind identify(const std::string& program, const Programs& programs);

// The options of a launcher; none for Kind::none.
const OptionTable* option_table(Kind kind);

}  // namespace uctrace::launcher
