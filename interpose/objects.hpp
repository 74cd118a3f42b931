// The loaded objects, read from their dynamic sections. dlsym cannot answer this: a patched UCX
// names this library as its auxiliary, so any search in a scope of such a UCX finds this library's
// function before UCX's own.
#pragma once

#include <link.h>

#include <cstdint>

namespace uctrace::interpose {

// A loaded program or library. Valid while it stays loaded.
class Object {
 public:
  Object() = default;
  explicit Object(const dl_phdr_info& info);

  explicit operator bool() const { return dynamic_ != nullptr; }
  bool operator==(const Object& other) const { return dynamic_ == other.dynamic_; }
  bool holds(const void* address) const {
    return reinterpret_cast<ElfW(Addr)>(address) - begin_ < end_ - begin_;
  }

  // True of this library itself.
  bool is_own() const;

  // The address of a symbol that this object itself defines; nullptr if it does not. About 50 ns.
  void* find(const char* symbol) const;

  // True if it refers to this symbol without defining it, as an object linked against the symbol
  // does. About 10 us: there is no index of references.
  bool imports(const char* name) const;

  // Where its calls of an external function lead. With lazy binding and no call so far, into this
  // object itself. nullptr: it refers to no function of this name. About 10 us.
  const void* leads_to(const char* function) const;

  // True if it certainly called this external function: its calls are bound lazily, and this one is
  // bound. False if all calls are bound at load time. About 10 us.
  bool has_called(const char* function) const;

  // True if even its own uses of symbols that it defines are bound to another object. It was loaded
  // beside another copy, into a scope where that copy comes first, and never runs.
  bool is_shadowed() const;

  // The name by which others need it (DT_NEEDED); "" if it has none.
  const char* soname() const;

  // Calls visit(name) for each library that it was linked with, in order.
  template <typename Visit>
  void for_each_needed(Visit visit) const {
    for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_NEEDED) visit(strings() + entry->d_un.d_val);
    }
  }

 private:
  const ElfW(Dyn) * entry(ElfW(Sxword) tag) const;
  const void* table(ElfW(Sxword) tag) const;
  template <typename Visit>
  bool any_relocation(ElfW(Sxword) tag, ElfW(Sxword) bytes_tag, Visit visit) const;
  const char* strings() const { return static_cast<const char*>(table(DT_STRTAB)); }
  const ElfW(Sym) * symbols() const { return static_cast<const ElfW(Sym)*>(table(DT_SYMTAB)); }
  const ElfW(Sym) * definition(const char* symbol) const;
  std::uint32_t symbol_count() const;

  ElfW(Addr) base_ = 0, begin_ = 0, end_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
};

// The object that holds this address; none for code made at run time. About 10 us.
Object object_of(const void* address);

}  // namespace uctrace::interpose
