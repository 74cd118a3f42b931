#include "interpose/objects.hpp"

#include <string.h>

#include "interpose/scope.hpp"

namespace uctrace::interpose {

namespace {

struct GnuHash {
  std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;

  const ElfW(Addr) * bloom() const { return reinterpret_cast<const ElfW(Addr)*>(this + 1); }
  const std::uint32_t* bucket() const {
    return reinterpret_cast<const std::uint32_t*>(bloom() + bloom_words);
  }
  const std::uint32_t* chain() const { return bucket() + buckets; }
};

struct SysvHash {
  std::uint32_t buckets, symbols;

  const std::uint32_t* bucket() const { return reinterpret_cast<const std::uint32_t*>(this + 1); }
  const std::uint32_t* chain() const { return bucket() + buckets; }
};

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) {
    hash = hash * 33 + static_cast<unsigned char>(*name);
  }
  return hash;
}

std::uint32_t sysv_hash(const char* name) {
  std::uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    const std::uint32_t high = hash & 0xf0000000;
    hash = (hash ^ high >> 24) & ~high;
  }
  return hash;
}

bool may_hold(const GnuHash& table, std::uint32_t hash) {
  constexpr std::uint32_t kBits = sizeof(ElfW(Addr)) * 8;
  const ElfW(Addr) word = table.bloom()[hash / kBits & (table.bloom_words - 1)];
  return (word >> hash % kBits & word >> (hash >> table.bloom_shift) % kBits & 1) != 0;
}

// The types of relocations that hold a symbol's address for the object's own use. They are set at
// load time and never change, or are set by the first call. Other types lie in the object's data,
// which may have been overwritten since.
#if defined(__x86_64__)
constexpr std::uint32_t kReference = R_X86_64_GLOB_DAT, kCall = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
constexpr std::uint32_t kReference = R_AARCH64_GLOB_DAT, kCall = R_AARCH64_JUMP_SLOT;
#else
#error "which relocations hold references is not known for this machine"
#endif

bool is_global(const ElfW(Sym) & symbol) {
  return ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_other == STV_DEFAULT;
}

bool is_defined(const ElfW(Sym) & symbol) {
  return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
}

}  // namespace

Object::Object(const dl_phdr_info& info) : base_(info.dlpi_addr) {
  const ObjectRange range = range_of(info);
  begin_ = range.begin;
  end_ = range.end;
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(base_ + info.dlpi_phdr[i].p_vaddr);
    }
  }
  if (dynamic_ != nullptr && (strings() == nullptr || symbols() == nullptr)) {
    dynamic_ = nullptr;
  }
}

const ElfW(Dyn) * Object::entry(ElfW(Sxword) tag) const {
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) {
      return entry;
    }
  }
  return nullptr;
}

// The loader relocates most of these entries in place, but cannot write to those of the vdso.
const void* Object::table(ElfW(Sxword) tag) const {
  const ElfW(Dyn)* found = entry(tag);
  if (found == nullptr) {
    return nullptr;
  }
  const ElfW(Addr) address = found->d_un.d_ptr;
  return reinterpret_cast<const void*>(address < base_ ? base_ + address : address);
}

const char* Object::soname() const {
  const ElfW(Dyn)* found = entry(DT_SONAME);
  return found != nullptr ? strings() + found->d_un.d_val : "";
}

const ElfW(Sym) * Object::definition(const char* name) const {
  const ElfW(Sym)* all = symbols();
  const auto is_it = [&](std::uint32_t index) {
    const ElfW(Sym)& symbol = all[index];
    return is_global(symbol) && is_defined(symbol) && strcmp(strings() + symbol.st_name, name) == 0;
  };
  if (const auto* gnu = static_cast<const GnuHash*>(table(DT_GNU_HASH))) {
    const std::uint32_t hash = gnu_hash(name);
    std::uint32_t index =
        gnu->buckets != 0 && may_hold(*gnu, hash) ? gnu->bucket()[hash % gnu->buckets] : 0;
    for (; index >= gnu->first_symbol && index != 0; ++index) {
      const std::uint32_t link = gnu->chain()[index - gnu->first_symbol];
      if ((link | 1) == (hash | 1) && is_it(index)) {
        return &all[index];
      }
      if ((link & 1) != 0) {
        break;
      }
    }
    return nullptr;
  }
  if (const auto* sysv = static_cast<const SysvHash*>(table(DT_HASH)); sysv && sysv->buckets != 0) {
    for (std::uint32_t index = sysv->bucket()[sysv_hash(name) % sysv->buckets]; index != 0;
         index = sysv->chain()[index]) {
      if (is_it(index)) {
        return &all[index];
      }
    }
  }
  return nullptr;
}

void* Object::find(const char* symbol) const {
  const ElfW(Sym)* found = definition(symbol);
  return found != nullptr ? reinterpret_cast<void*>(base_ + found->st_value) : nullptr;
}

std::uint32_t Object::symbol_count() const {
  if (const auto* sysv = static_cast<const SysvHash*>(table(DT_HASH))) {
    return sysv->symbols;
  }
  const auto* gnu = static_cast<const GnuHash*>(table(DT_GNU_HASH));
  if (gnu == nullptr) {
    return 0;
  }
  // Symbols that are not defined here come before the first one in the table.
  return gnu->first_symbol;
}

bool Object::imports(const char* name) const {
  const ElfW(Sym)* all = symbols();
  for (std::uint32_t i = 1, n = symbol_count(); i < n; ++i) {
    if (all[i].st_shndx == SHN_UNDEF && strcmp(strings() + all[i].st_name, name) == 0) {
      return true;
    }
  }
  return false;
}

// The linker makes a _DYNAMIC for each library that only the library itself can see.
bool Object::is_own() const { return dynamic_ == _DYNAMIC; }

// Calls visit(type, symbol, place of the address) for each relocation of these types, until a call
// returns true.
template <typename Visit>
bool Object::any_relocation(ElfW(Sxword) tag, ElfW(Sxword) bytes_tag, Visit visit) const {
  const auto* relocation = static_cast<const ElfW(Rela)*>(table(tag));
  const ElfW(Dyn)* bytes = entry(bytes_tag);
  if (relocation == nullptr || bytes == nullptr) {
    return false;
  }
  const ElfW(Sym)* all = symbols();
  for (const auto* end = relocation + bytes->d_un.d_val / sizeof *relocation; relocation != end;
       ++relocation) {
    const std::uint32_t type = ELF64_R_TYPE(relocation->r_info);
    if (type != kReference && type != kCall) {
      continue;
    }
    const ElfW(Addr) bound = *reinterpret_cast<const ElfW(Addr)*>(base_ + relocation->r_offset) -
                             static_cast<ElfW(Addr)>(relocation->r_addend);
    if (visit(type, all[ELF64_R_SYM(relocation->r_info)], bound)) {
      return true;
    }
  }
  return false;
}

const void* Object::leads_to(const char* function) const {
  const void* found = nullptr;
  const auto is_it = [&](std::uint32_t, const ElfW(Sym) & symbol, ElfW(Addr) bound) {
    if (symbol.st_shndx != SHN_UNDEF || strcmp(strings() + symbol.st_name, function) != 0) {
      return false;
    }
    found = reinterpret_cast<const void*>(bound);
    return true;
  };
  if (!any_relocation(DT_JMPREL, DT_PLTRELSZ, is_it)) {
    any_relocation(DT_RELA, DT_RELASZ, is_it);
  }
  return found;
}

bool Object::has_called(const char* function) const {
  bool is_bound = false, others_wait = false;
  const auto look_at = [&](std::uint32_t, const ElfW(Sym) & symbol, ElfW(Addr) bound) {
    if (symbol.st_shndx != SHN_UNDEF) return false;  // its own, and bound into itself for good
    const bool waits = holds(reinterpret_cast<const void*>(bound));
    const bool is_it = strcmp(strings() + symbol.st_name, function) == 0;
    is_bound = is_bound || (is_it && !waits);
    others_wait = others_wait || (!is_it && waits);
    return false;
  };
  any_relocation(DT_JMPREL, DT_PLTRELSZ, look_at);
  return is_bound && others_wait;
}

// Looks at variables only: functions may be bound to this library's, which is not another copy.
bool Object::is_shadowed() const {
  const auto is_bound_elsewhere = [&](std::uint32_t type, const ElfW(Sym) & symbol,
                                      ElfW(Addr) bound) {
    if (type != kReference || !is_global(symbol) || !is_defined(symbol) ||
        ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || bound == base_ + symbol.st_value) {
      return false;
    }
    // The program may hold the only valid copy (a copy relocation).
    const Object holder = object_of(reinterpret_cast<const void*>(bound));
    return holder && holder.entry(DT_DEBUG) == nullptr;
  };
  return any_relocation(DT_RELA, DT_RELASZ, is_bound_elsewhere);
}

namespace {

struct Search {
  const void* address;
  Object found;
};

int search_object(dl_phdr_info* info, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (!range_of(*info).holds(search->address)) {
    return 0;
  }
  search->found = Object(*info);
  return 1;
}

}  // namespace

Object object_of(const void* address) {
  Search search{address, {}};
  dl_iterate_phdr(search_object, &search);
  return search.found;
}

}  // namespace uctrace::interpose
