#include "cli/check/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "cli/check/child.hpp"
#include "ucx-facts/library_names.hpp"

namespace uctrace::cli::check {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
constexpr const char* kLinker = "/lib64/ld-linux-x86-64.so.2";
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
constexpr const char* kLinker = "/lib/ld-linux-aarch64.so.1";
#else
#error "the dynamic linker of this processor is not known"
#endif

// A whole file, mapped for reading. Every access is checked against its size.
class Image {
 public:
  explicit Image(const std::filesystem::path& file) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
      readable_ = true;
      bytes_ = static_cast<std::size_t>(status.st_size);
      if (bytes_ != 0) at_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) close(fd);
    if (at_ == MAP_FAILED || at_ == nullptr) {
      at_ = nullptr;
      bytes_ = 0;
    }
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() {
    if (at_ != nullptr) munmap(at_, bytes_);
  }

  bool readable() const { return readable_; }

  // The part of [offset, offset + bytes) that the file has.
  std::string_view part(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset >= bytes_) return {};
    const std::uint64_t there = bytes_ - offset;
    return {static_cast<const char*>(at_) + offset, bytes < there ? bytes : there};
  }

  template <typename Struct>
  std::vector<Struct> array(std::uint64_t offset, std::uint64_t count) const {
    const std::string_view raw = part(offset, count * sizeof(Struct));
    std::vector<Struct> all(raw.size() / sizeof(Struct));
    if (!all.empty()) std::memcpy(all.data(), raw.data(), all.size() * sizeof(Struct));
    return all;
  }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
  bool readable_ = false;
};

std::string word_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return "";
  strings.remove_prefix(offset);
  return std::string(strings.substr(0, strings.find('\0')));
}

std::string script_interpreter(const Image& image) {
  std::string_view line = image.part(2, 256);
  line = line.substr(0, line.find('\n'));
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  return std::string(line);
}

void read_symbols(const Image& image, const std::vector<ElfW(Shdr)>& sections, FileFacts& facts) {
  for (const ElfW(Shdr) & table : sections) {
    const bool symbols = table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM;
    if (!symbols || table.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& names = sections[table.sh_link];
    const std::string_view strings = image.part(names.sh_offset, names.sh_size);
    for (const auto& symbol :
         image.array<ElfW(Sym)>(table.sh_offset, table.sh_size / sizeof(ElfW(Sym)))) {
      // An undefined function with a value: the value is the stub through which it is called.
      if (symbol.st_shndx == SHN_UNDEF) continue;
      const std::string name = word_at(strings, symbol.st_name);
      facts.defines_mpi_init |= name == "MPI_Init";
      facts.defines_ucp_init |= name == "ucp_init_version";
      facts.sets_asan_options |= name == "__asan_default_options";
    }
  }
}

void read_needed(const Image& image, const std::vector<ElfW(Shdr)>& sections, FileFacts& facts) {
  for (const ElfW(Shdr) & table : sections) {
    if (table.sh_type != SHT_DYNAMIC || table.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& names = sections[table.sh_link];
    const std::string_view strings = image.part(names.sh_offset, names.sh_size);
    for (const auto& entry :
         image.array<ElfW(Dyn)>(table.sh_offset, table.sh_size / sizeof(ElfW(Dyn)))) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) facts.needed.push_back(word_at(strings, entry.d_un.d_val));
    }
  }
}

void read_elf(const Image& image, FileFacts& facts) {
  const auto headers = image.array<ElfW(Ehdr)>(0, 1);
  facts.kind = FileKind::foreign_elf;
  if (headers.empty()) return;
  const ElfW(Ehdr)& header = headers.front();
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine) return;
  bool has_linker = false;
  for (const auto& segment : image.array<ElfW(Phdr)>(header.e_phoff, header.e_phnum)) {
    has_linker |= segment.p_type == PT_INTERP;
  }
  facts.kind = has_linker ? FileKind::dynamic_elf : FileKind::static_elf;
  const auto sections = image.array<ElfW(Shdr)>(header.e_shoff, header.e_shnum);
  read_symbols(image, sections, facts);
  read_needed(image, sections, facts);
}

}  // namespace

FileFacts look_at_file(const std::filesystem::path& file) {
  const Image image(file);
  FileFacts facts;
  if (!image.readable()) return facts;
  facts.kind = FileKind::other;
  if (image.part(0, 2) == "#!") {
    facts.kind = FileKind::script;
    facts.interpreter = script_interpreter(image);
  } else if (image.part(0, SELFMAG) == ELFMAG) {
    read_elf(image, facts);
  }
  return facts;
}

std::optional<std::vector<LoadedLibrary>> libraries_of(const std::filesystem::path& file,
                                                       std::string& why) {
  const ChildResult listed =
      run_child({kLinker, "--list", file.string()}, {.unset = {"LD_PRELOAD"}});
  if (!listed.good()) {
    why = listed.err.empty() ? "the dynamic linker gave no list" : lines_of(listed.err).front();
    return std::nullopt;
  }
  std::vector<LoadedLibrary> libraries;
  for (const std::string& line : lines_of(listed.out)) {
    // "\tlibucp.so.0 => /lib/libucp.so.0 (0x...)", or "... => not found".
    const std::size_t arrow = line.find(" => ");
    if (arrow == std::string::npos) continue;
    const std::string path = line.substr(arrow + 4, line.rfind(" (") - arrow - 4);
    const std::size_t first = line.find_first_not_of("\t ");
    libraries.push_back({line.substr(first, arrow - first), path == "not found" ? "" : path});
  }
  return libraries;
}

const LoadedLibrary* find_library(const std::vector<LoadedLibrary>& libraries,
                                  const std::string& beginning) {
  for (const LoadedLibrary& library : libraries) {
    if (library.name.starts_with(beginning)) return &library;
  }
  return nullptr;
}

const LoadedLibrary* find_ucx(const std::vector<LoadedLibrary>& libraries,
                              const std::string& name) {
  const LoadedLibrary* const plain = find_library(libraries, name + ".so");
  if (plain != nullptr) return plain;
  const auto of_its_own = std::find_if(
      libraries.begin(), libraries.end(),
      [&](const LoadedLibrary& library) { return ucx::is_library(library.name, name); });
  return of_its_own != libraries.end() ? &*of_its_own : nullptr;
}

}  // namespace uctrace::cli::check
