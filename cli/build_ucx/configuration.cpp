#include "cli/build_ucx/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <regex>

#include "cli/check/child.hpp"

namespace uctrace::cli::build_ucx {
namespace {

// Options about a package's location, machine and build rules, and about parts of UCX that no
// recorded job uses. A private build sets its own.
constexpr std::array kOfThePackage = {"build",
                                      "host",
                                      "target",
                                      "prefix",
                                      "exec-prefix",
                                      "srcdir",
                                      "cache-file",
                                      "program-prefix",
                                      "program-suffix",
                                      "config-cache",
                                      "option-checking",
                                      "silent-rules",
                                      "maintainer-mode",
                                      "dependency-tracking",
                                      "examples",
                                      "gtest",
                                      "static",
                                      "shared",
                                      "rpath",
                                      "docs-only",
                                      "java",
                                      "go",
                                      "jdk-dir",
                                      "doxygen-doc",
                                      "doxygen-pdf",
                                      "doxygen-html",
                                      "doxygen-man",
                                      "valgrind",
                                      "mpi",
                                      "libtool-lock",
                                      "fast-install"};

// Other names of an option's part in configure's messages.
struct Alias {
  const char* part;
  const char* words;  // a regular expression
};
constexpr std::array kAliases = {
    Alias{"verbs", "verbs|ibverbs|libibverbs|IB verbs"},
    Alias{"cuda", "cuda|nvml|libnvidia-ml"},
    Alias{"fuse3", "fuse3|fusev3"},
    Alias{"mad", "mad|infiniband mad"},
    Alias{"gdrcopy", "gdrcopy|gdr_copy"},
    Alias{"knem", "knem|knem_io"},
    Alias{"rdmacm", "rdmacm|librdmacm"},
    Alias{"xpmem", "xpmem|cray-xpmem"},
    Alias{"ugni", "ugni|cray-ugni"},
};

// Parts that configure lists in its summary, by the names used there.
struct Module {
  const char* part;
  const char* name;
};
constexpr std::array kModules = {
    Module{"verbs", "ib"},  Module{"rdmacm", "rdmacm"},   Module{"cma", "cma"},
    Module{"knem", "knem"}, Module{"xpmem", "xpmem"},     Module{"cuda", "cuda"},
    Module{"rocm", "rocm"}, Module{"gdrcopy", "gdrcopy"}, Module{"ugni", "ugni"},
    Module{"ze", "ze"},     Module{"mlx5", "mlx5"},       Module{"gaudi", "gaudi"}};

struct Provider {
  const char* sign;  // in an error, as a regular expression
  const char* package;
};
constexpr std::array kProviders = {
    Provider{"infiniband/mlx5dv|infiniband/verbs|ib ?verbs|libmlx5", "libibverbs-dev"},
    Provider{"rdma_cma|rdmacm", "librdmacm-dev"},
    Provider{"numa\\.h|libnuma|NUMA support not found", "libnuma-dev"},
    Provider{"bfd\\.h|BFD support", "binutils-dev"},
    Provider{"fuse3|FUSEv3", "libfuse3-dev"},
    Provider{"Infiniband MAD|infiniband/mad", "libibmad-dev libibumad-dev"},
    Provider{"C\\+\\+ compiler|g\\+\\+: not found|CXX", "g++"},
    Provider{"LT_INIT|AC_PROG_LIBTOOL|libtoolize|LIBTOOL", "libtool"},
    Provider{"aclocal|automake", "automake"},
    Provider{"autoconf|autom4te", "autoconf"},
    Provider{"stdio\\.h|limits\\.h|cannot find crt1|C compiler cannot create", "libc6-dev"},
    Provider{"linux/[a-z_/]+\\.h", "linux-libc-dev"}};

bool has(const std::string& text, const std::string& words) {
  return std::regex_search(text, std::regex(words, std::regex::icase));
}

bool names_part(const std::string& message, const std::string& part) {
  std::string words = std::regex_replace(part, std::regex("[^A-Za-z0-9_-]"), ".");
  for (const Alias& alias : kAliases) {
    if (part == alias.part) words = alias.words;
  }
  return has(message, "(^|[^a-z0-9_])(" + words + ")([^a-z0-9]|$)");
}

struct Option {
  std::string action;  // "with", "without", "enable", "disable", or empty
  std::string name, value;
};

Option read_option(const std::string& word) {
  if (!word.starts_with("--")) return {};
  const std::size_t equals = word.find('=');
  Option option{.action = "", .name = word.substr(2, equals - 2), .value = ""};
  if (equals != std::string::npos) option.value = word.substr(equals + 1);
  if (equals == std::string::npos) option.name = word.substr(2);
  for (const char* action : {"without", "with", "enable", "disable"}) {
    const std::string beginning = std::string(action) + "-";
    if (!option.name.starts_with(beginning)) continue;
    option.action = action;
    option.name = option.name.substr(beginning.size());
    break;
  }
  return option;
}

bool is_of_the_package(const Option& option) {
  const bool is_a_folder = option.action.empty() && option.name.ends_with("dir");
  return is_a_folder ||
         std::find(kOfThePackage.begin(), kOfThePackage.end(), option.name) != kOfThePackage.end();
}

bool is_variable(const std::string& word) {
  return std::regex_search(word, std::regex("^[A-Za-z_][A-Za-z0-9_]*="));
}

// configure records its arguments without the shell's quotes: a word that is neither an option nor
// a variable belongs to the word before it ("CFLAGS=-O2 -g").
Words split_options(const std::string& line) {
  Words options;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    const bool begins = word.starts_with("--") || is_variable(word);
    if (begins || options.empty()) {
      options.push_back(word);
    } else {
      options.back() += " " + word;
    }
  }
  return options;
}

std::string after(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(key);
  return at == std::string::npos ? "" : line.substr(at + key.size());
}

// "configure:          UCT modules:   < ib cma >" of all kinds of modules, as words.
Words modules_in(const std::string& output) {
  Words modules;
  for (const std::string& line : check::lines_of(output)) {
    if (line.find(" modules:") == std::string::npos) continue;
    std::istringstream in(after(line, "<"));
    for (std::string word; in >> word && word != ">";) modules.push_back(word);
  }
  return modules;
}

std::string warning_about(const std::string& output, const std::string& part) {
  for (const std::string& line : check::lines_of(output)) {
    const std::string message = after(line, "configure: WARNING: ");
    if (!message.empty() && names_part(message, part)) return message;
  }
  return "configure found nothing of it";
}

}  // namespace

std::string UcxVersion::text() const { return fmt::format("{}.{}.{}", major, minor, patch); }

UcxInfo parse_ucx_info(const std::string& text) {
  UcxInfo info;
  // Since 1.14, of 1.13, and before.
  static const std::regex version(
      "^# (?:Library version: |Version |UCT version=)([0-9]+\\.[0-9]+\\.[0-9]+)");
  static const std::regex configured("^# [Cc]onfigured with:");
  for (const std::string& line : check::lines_of(text)) {
    std::smatch match;
    if (info.version.empty() && std::regex_search(line, match, version)) info.version = match[1];
    if (std::regex_search(line, match, configured)) {
      info.options = split_options(after(line, match.str()));
    }
  }
  return info;
}

std::optional<UcxVersion> parse_release(const std::string& text) {
  UcxVersion version;
  const int found =
      std::sscanf(text.c_str(), "%u.%u.%u", &version.major, &version.minor, &version.patch);
  return found == 3 ? std::optional(version) : std::nullopt;
}

std::optional<UcxVersion> parse_version(const std::string& configure_ac) {
  const auto number = [&](const char* part) -> std::optional<unsigned> {
    const std::regex define(fmt::format("define\\(\\[ucx_ver_{}\\], *([0-9]{{1,6}})\\)", part));
    std::smatch match;
    if (!std::regex_search(configure_ac, match, define)) return std::nullopt;
    return static_cast<unsigned>(std::stoul(match[1]));
  };
  const auto major = number("major"), minor = number("minor"), patch = number("patch");
  if (!major || !minor || !patch) return std::nullopt;
  return UcxVersion{*major, *minor, *patch};
}

Taken options_for_here(const Words& site) {
  Taken taken;
  for (const std::string& word : site) {
    const Option option = read_option(word);
    if (is_of_the_package(option) || (option.name.empty() && !is_variable(word))) continue;
    std::error_code error;
    if (option.value.starts_with("/") && !std::filesystem::exists(option.value, error)) {
      taken.dropped.push_back({word, option.value + " is not on this machine"});
      continue;
    }
    taken.options.push_back(word);
  }
  return taken;
}

std::string part_asked_for(const std::string& word) {
  const Option option = read_option(word);
  const bool asks = (option.action == "with" || option.action == "enable") && option.value != "no";
  return asks ? option.name : "";
}

Complaint complaint_in(const std::string& output, const Words& options) {
  Complaint complaint;
  for (const std::string& line : check::lines_of(output)) {
    const std::string message = after(line, "configure: error: ");
    if (!message.empty()) complaint.message = message;
  }
  for (std::size_t i = 0; i < options.size() && !complaint.message.empty(); ++i) {
    const std::string part = part_asked_for(options[i]);
    if (!part.empty() && names_part(complaint.message, part)) complaint.option = i;
  }
  return complaint;
}

std::vector<Dropped> left_out(const std::string& output, const Words& options) {
  std::vector<Dropped> dropped;
  const Words modules = modules_in(output);
  std::string unknown;
  for (const std::string& line : check::lines_of(output)) {
    const std::string names = after(line, "configure: WARNING: unrecognized options: ");
    if (!names.empty()) unknown = " " + names + ",";
  }
  for (const std::string& option : options) {
    const std::string name = option.substr(0, option.find('='));
    if (unknown.find(" " + name + ",") != std::string::npos) {
      dropped.push_back({option, "this UCX has no such option"});
      continue;
    }
    const std::string part = part_asked_for(option);
    for (const Module& module : kModules) {
      if (part != module.part || modules.empty()) continue;
      if (option.ends_with("=guess") || option.ends_with("=check")) continue;
      if (std::find(modules.begin(), modules.end(), module.name) != modules.end()) continue;
      dropped.push_back({option, warning_about(output, part)});
    }
  }
  return dropped;
}

std::string package_for(const std::string& text) {
  for (const Provider& provider : kProviders) {
    if (has(text, provider.sign)) return provider.package;
  }
  return "";
}

}  // namespace uctrace::cli::build_ucx
