#include "symbols/symbols.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

namespace uctrace::symbols {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

std::string demangled(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0) return name;
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return status == 0 ? without_parameters(text.get()) : name;
}

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

// One file, opened with its debug information.
class OpenCode {
 public:
  OpenCode() : session_(dwfl_begin(&kCallbacks)) {}
  OpenCode(const OpenCode&) = delete;
  OpenCode& operator=(const OpenCode&) = delete;
  ~OpenCode() { dwfl_end(session_); }

  // Why it could not be opened, or is not the one that ran; nothing if all is well.
  std::optional<std::string> open(const CodeFile& code, const std::string& path) {
    if (session_ == nullptr) return "libdw cannot be used";
    std::error_code error;
    const bool absolute = path.starts_with('/');
    if (!absolute || !std::filesystem::exists(path, error)) return "it is not here";
    // A damaged log may name anything.
    if (!std::filesystem::is_regular_file(path, error)) return "it is no file";
    dwfl_report_begin(session_);
    module_ = dwfl_report_offline(session_, code.path.c_str(), path.c_str(), -1);
    dwfl_report_end(session_, nullptr, nullptr);
    GElf_Addr bias = 0;
    if (module_ == nullptr || dwfl_module_getelf(module_, &bias) == nullptr) {
      return "it cannot be read as a program";
    }
    bias_ = bias;
    const unsigned char* bytes = nullptr;
    GElf_Addr at = 0;
    const int size = dwfl_module_build_id(module_, &bytes, &at);
    const std::string found(reinterpret_cast<const char*>(bytes),
                            size > 0 ? static_cast<std::size_t>(size) : 0);
    if (found == code.build_id) return std::nullopt;
    return "the file there now is another build" +
           (found.empty() ? std::string() : " (" + hex(found).substr(0, 12) + ")");
  }

  SourceFrames at(std::uint64_t address) {
    const Dwarf_Addr here = address + bias_;
    SourceFrames frames;
    const Place place = place_of(here);
    add_from_debug_information(here, place, frames);
    if (frames.empty()) frames.push_back({symbol_at(here), place.file, place.line, false});
    return frames;
  }

 private:
  struct Place {
    std::string file;
    std::uint32_t line = 0;
  };

  Place place_of(Dwarf_Addr here) {
    Dwfl_Line* line = dwfl_module_getsrc(module_, here);
    int number = 0;
    const char* file = line == nullptr
                           ? nullptr
                           : dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
    if (file == nullptr || number <= 0) return {};
    return {absolute(file, dwfl_line_comp_dir(line)), static_cast<std::uint32_t>(number)};
  }

  static std::string absolute(const char* file, const char* folder) {
    const std::filesystem::path path(file);
    if (path.is_absolute() || folder == nullptr) return path.lexically_normal().string();
    return (std::filesystem::path(folder) / path).lexically_normal().string();
  }

  // The function around the address and the calls inlined into it, from the innermost one out.
  void add_from_debug_information(Dwarf_Addr here, Place place, SourceFrames& frames) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module_, here, &bias);
    if (unit == nullptr) return;
    Dwarf_Die* found = nullptr;
    const int count = dwarf_getscopes(unit, here - bias, &found);
    const std::unique_ptr<Dwarf_Die, Free> scopes(found);
    if (count <= 0) return;
    // dwarf_getscopes() goes on to the scope where an inlined function was written; this walks to
    // where it was inlined.
    Dwarf_Die* around = nullptr;
    const int depth = dwarf_getscopes_die(&found[0], &around);
    const std::unique_ptr<Dwarf_Die, Free> chain(around);
    for (int i = 0; i < depth; ++i) {
      const int tag = dwarf_tag(&around[i]);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      const bool inlined = tag == DW_TAG_inlined_subroutine;
      frames.push_back({name_of(&around[i], here), place.file, place.line, inlined});
      if (!inlined) return;
      place = call_place(unit, &around[i]);
    }
    if (!frames.empty()) frames.back().inlined = false;
  }

  std::string name_of(Dwarf_Die* function, Dwarf_Addr here) {
    Dwarf_Attribute attribute;
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
      const char* linkage = dwarf_formstring(dwarf_attr_integrate(function, name, &attribute));
      if (linkage != nullptr && std::strncmp(linkage, "_Z", 2) == 0) return demangled(linkage);
    }
    const char* name = dwarf_diename(function);
    return name != nullptr ? name : symbol_at(here);
  }

  // Where an inlined function was called.
  static Place call_place(Dwarf_Die* unit, Dwarf_Die* inlined) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files* files = nullptr;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, nullptr) != 0) {
      return {};
    }
    const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
    if (name == nullptr) return {};
    const char* folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    return {absolute(name, folder), static_cast<std::uint32_t>(line)};
  }

  // From the table of symbols, which a file without debug information may have. The nearest one
  // before an address means nothing beyond its size.
  std::string symbol_at(Dwarf_Addr here) {
    GElf_Off offset = 0;
    GElf_Sym symbol{};
    const char* name =
        dwfl_module_addrinfo(module_, here, &offset, &symbol, nullptr, nullptr, nullptr);
    return name != nullptr && offset < symbol.st_size ? demangled(name) : "";
  }

  static constexpr Dwfl_Callbacks kCallbacks = {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = dwfl_standard_find_debuginfo,
      .section_address = dwfl_offline_section_address,
      .debuginfo_path = nullptr,
  };

  Dwfl* session_;
  Dwfl_Module* module_ = nullptr;
  Dwarf_Addr bias_ = 0;
};

// Debug information by build id: it has the symbols even where the file itself is gone.
std::string separate_file(const CodeFile& code) {
  const std::string id = hex(code.build_id);
  return id.size() < 4
             ? ""
             : "/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
}

}  // namespace

Resolved resolve(const CodeFile& code, std::span<const std::uint64_t> addresses) {
  Resolved resolved;
  auto opened = std::make_unique<OpenCode>();
  resolved.why = opened->open(code, code.path);
  if (const std::string other = separate_file(code); resolved.why && !other.empty()) {
    auto second = std::make_unique<OpenCode>();
    if (!second->open(code, other)) {
      resolved.why.reset();
      opened = std::move(second);
    }
  }
  if (resolved.why) {
    resolved.at.assign(addresses.size(), SourceFrames(1));
    return resolved;
  }
  for (const std::uint64_t address : addresses) resolved.at.push_back(opened->at(address));
  return resolved;
}

std::string without_parameters(std::string_view function) {
  const std::size_t end = function.rfind(')');
  if (end == function.npos) return std::string(function);
  // "operator()" has parentheses of its own before its parameters, as has a type in a template's
  // arguments, behind which there are no parameters.
  const std::string_view behind = function.substr(end + 1);
  if (!behind.empty() && behind.front() != ' ' && behind.front() != '[') {
    return std::string(function);
  }
  int depth = 0;
  for (std::size_t at = end + 1; at-- > 0;) {
    depth += function[at] == ')' ? 1 : function[at] == '(' ? -1 : 0;
    if (depth == 0) return std::string(function.substr(0, at));
  }
  return std::string(function);
}

}  // namespace uctrace::symbols
