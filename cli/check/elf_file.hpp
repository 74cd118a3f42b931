// Facts about a program file from its first bytes and tables, without running it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace uctrace::cli::check {

enum class FileKind : std::uint8_t {
  unreadable,
  other,        // neither of those below
  script,       // begins with #!
  foreign_elf,  // of another word size or processor than this machine's
  static_elf,   // has no dynamic linker
  dynamic_elf,  // may load libraries
};

struct FileFacts {
  FileKind kind = FileKind::unreadable;
  std::string interpreter;          // of a script: what runs it, with its argument
  std::vector<std::string> needed;  // DT_NEEDED, as written in the file
  bool defines_mpi_init = false;    // MPI is part of the program itself
  bool defines_ucp_init = false;    // and so is UCX
  bool sets_asan_options = false;   // it defines AddressSanitizer's defaults
};

// From a truncated or damaged file it returns what could be read.
FileFacts look_at_file(const std::filesystem::path& file);

// The library that the dynamic linker would load for a name.
struct LoadedLibrary {
  std::string name;            // "libucp.so.0"
  std::filesystem::path path;  // empty: not found
};

// All libraries of a program or library, as the dynamic linker itself lists them without running
// it. nullopt: the linker refuses it; `why` is its message.
std::optional<std::vector<LoadedLibrary>> libraries_of(const std::filesystem::path& file,
                                                       std::string& why);

// The first whose name begins with this ("libucp.so"), else nullptr.
const LoadedLibrary* find_library(const std::vector<LoadedLibrary>& libraries,
                                  const std::string& beginning);

// A library of UCX ("libucp"), also under another name (ucx-facts/library_names.hpp). The plain
// name is preferred.
const LoadedLibrary* find_ucx(const std::vector<LoadedLibrary>& libraries, const std::string& name);

}  // namespace uctrace::cli::check
