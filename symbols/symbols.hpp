// Where addresses of code are in the source: function, file and line, with inlined calls.
//
// A file on disk is used only if its build id says that it is the one that ran. The debug
// information is in it or in a separate file, by the usual rules (a link in it,
// /usr/lib/debug/.build-id).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace uctrace::symbols {

// A program or library as it ran.
struct CodeFile {
  std::string path;
  std::string build_id;  // bytes; empty: it had none
};

struct SourceFrame {
  std::string function;  // demangled, without parameters; empty: not known
  std::string file;      // empty: not known
  std::uint32_t line = 0;
  bool inlined = false;  // into the frame that follows
};

// The frames at one address, innermost first; a single one without names if nothing is known.
using SourceFrames = std::vector<SourceFrame>;

struct Resolved {
  std::vector<SourceFrames> at;    // for each address
  std::optional<std::string> why;  // why nothing is known
};

// `addresses` are those of the file. Debug information is read for this call alone.
Resolved resolve(const CodeFile& code, std::span<const std::uint64_t> addresses);

// Without its parameters: "void ns::f<int>(int, (anonymous namespace)::T) const" -> "void
// ns::f<int>".
std::string without_parameters(std::string_view function);

}  // namespace uctrace::symbols
