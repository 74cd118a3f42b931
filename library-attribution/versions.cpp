// What libraries above UCX say of themselves. A row for each, in the order of their numbers.
#include <cstdio>

#include "interpose/scope.hpp"
#include "library-attribution/libraries.hpp"

namespace uctrace::library {
namespace {

// May be called at any time. The name has SHMEM_MAX_NAME_LEN bytes, which is 64 to 256.
VersionText openshmem_version(interpose::Scope& scope) {
  VersionText version{};
  auto* get_version =
      reinterpret_cast<void (*)(int*, int*)>(scope.find_function("shmem_info_get_version"));
  auto* get_name = reinterpret_cast<void (*)(char*)>(scope.find_function("shmem_info_get_name"));
  if (get_version == nullptr || get_name == nullptr) return version;
  int major = 0, minor = 0;
  char name[4096] = {};
  get_version(&major, &minor);
  get_name(name);
  snprintf(version.text, sizeof version.text, "%d.%d, %.400s", major, minor, name);
  return version;
}

VersionText ucc_version(interpose::Scope& scope) {
  VersionText version{};
  auto* get = reinterpret_cast<const char* (*)()>(scope.find_function("ucc_get_version_string"));
  if (get != nullptr) snprintf(version.text, sizeof version.text, "%.400s", get());
  return version;
}

constexpr VersionText (*kVersions[])(interpose::Scope&) = {openshmem_version, ucc_version};

}  // namespace

VersionText version_of(unsigned library, const void* code) {
  interpose::Scope scope(code);
  return kVersions[library](scope);
}

}  // namespace uctrace::library
