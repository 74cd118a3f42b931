#include "interpose/needed.hpp"

#include <string.h>

#include <bitset>

namespace uctrace::interpose {

namespace {

std::uint32_t hash_of(const char* path) {
  const char* slash = strrchr(path, '/');
  std::uint32_t hash = 2166136261;
  for (const char* c = slash != nullptr ? slash + 1 : path; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619;
  }
  return hash;
}

// All loaded objects in the loader's order, by hashes of the names that they can be found by.
struct Loaded {
  static constexpr std::size_t kMost = 512;

  std::size_t count = 0;
  Object object[kMost];
  std::uint32_t soname[kMost], file[kMost];

  Loaded() {
    dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                       void* data) { return static_cast<Loaded*>(data)->add(*info); },
                    this);
  }

  int add(const dl_phdr_info& info) {
    const Object added(info);
    if (!added) {
      return 0;
    }
    object[count] = added;
    soname[count] = hash_of(added.soname());
    file[count] = hash_of(info.dlpi_name);
    return ++count == kMost;
  }

  std::size_t find(const Object& wanted) const {
    std::size_t i = 0;
    while (i < count && !(object[i] == wanted)) ++i;
    return i;
  }
  std::size_t find(const char* needed) const {
    const std::uint32_t hash = hash_of(needed);
    std::size_t i = 0;
    while (i < count && soname[i] != hash && file[i] != hash) ++i;
    return i;
  }
};

// The libraries that an object is linked with, breadth first, as the loader searches.
class Needed {
 public:
  explicit Needed(const Object& root) { push(loaded_.find(root)); }

  Object first_to_define(const char* symbol) {
    while (next_ < queued_) {
      const Object& object = loaded_.object[queue_[next_++]];
      if (!object.is_own() && object.find(symbol) != nullptr) {
        return object;
      }
      object.for_each_needed([&](const char* name) { push(loaded_.find(name)); });
    }
    return {};
  }

 private:
  void push(std::size_t index) {
    if (index < loaded_.count && !seen_[index]) {
      seen_[index] = true;
      queue_[queued_++] = static_cast<std::uint16_t>(index);
    }
  }

  Loaded loaded_;
  std::bitset<Loaded::kMost> seen_;
  std::uint16_t queue_[Loaded::kMost];
  std::size_t next_ = 0, queued_ = 0;
};

}  // namespace

Object first_to_define(const char* symbol, const Object& from) {
  return from ? Needed(from).first_to_define(symbol) : Object();
}

}  // namespace uctrace::interpose
