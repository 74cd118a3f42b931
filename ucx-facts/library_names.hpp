// What files of UCX are called, by which they are told from others:
//
//     libucp.so.0
//     libucp-SUFFIX.so.0           of a UCX that was configured with --with-soname-suffix=SUFFIX
//     libucp-1a2b3c4d.so.0.0.0     of one that came in a Python package
//     libuct_cma.so.0, libuct_cma-SUFFIX.so.0    its modules
#pragma once

#include <optional>
#include <string_view>

namespace uctrace::ucx {

// Each before what needs it.
inline constexpr std::string_view kLibraries[] = {"libucm", "libucs", "libuct", "libucp"};

namespace detail {

constexpr bool is_of_suffix(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c == '-';
}

// "libucp-one.so.0.0.0" -> "libucp-one"; empty if it is no library.
constexpr std::string_view without_version(std::string_view file) {
  const std::size_t end = file.find(".so");
  const bool is_whole =
      end != std::string_view::npos && (end + 3 == file.size() || file[end + 3] == '.');
  return is_whole ? file.substr(0, end) : std::string_view{};
}

}  // namespace detail

// What the file has in its name besides that of this library ("libucp"): "" of libucp.so.0, "-one"
// of libucp-one.so.0. nullopt: it is not that library.
constexpr std::optional<std::string_view> suffix_of(std::string_view file,
                                                    std::string_view library) {
  const std::string_view name = detail::without_version(file);
  if (!name.starts_with(library)) return std::nullopt;
  const std::string_view suffix = name.substr(library.size());
  if (suffix.empty()) return suffix;
  if (suffix.size() == 1 || suffix.front() != '-') return std::nullopt;
  for (const char c : suffix) {
    if (!detail::is_of_suffix(c)) return std::nullopt;
  }
  return suffix;
}

constexpr bool is_library(std::string_view file, std::string_view library) {
  return suffix_of(file, library).has_value();
}

// A transport's module by its name: "cma" of libuct_cma-one.so.0; empty if it is none.
constexpr std::string_view module_name(std::string_view file) {
  constexpr std::string_view kBeginning = "libuct_";
  std::string_view name = detail::without_version(file);
  if (!name.starts_with(kBeginning)) return {};
  name.remove_prefix(kBeginning.size());
  return name.substr(0, name.find('-'));
}

// One of the libraries, or a module or other companion of one: libucs_signal.so.0, libucm_cuda.so.
constexpr bool is_of_ucx(std::string_view file) {
  const std::string_view name = detail::without_version(file);
  for (const std::string_view beginning : {"libuct_", "libucs_", "libucm_"}) {
    if (name.starts_with(beginning)) return true;
  }
  for (const std::string_view library : kLibraries) {
    if (is_library(file, library)) return true;
  }
  return false;
}

}  // namespace uctrace::ucx
