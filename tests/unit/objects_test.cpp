// What interpose reads from loaded objects, compared with the loader's answers.
#include "interpose/objects.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <stdio.h>

#include <string>

#include "interpose/needed.hpp"
#include "interpose/patched.hpp"
#include "interpose/scope.hpp"

using namespace uctrace::interpose;

namespace {

const void* here() { return reinterpret_cast<const void*>(&here); }
const void* in_libc() { return dlsym(RTLD_DEFAULT, "fclose"); }

}  // namespace

TEST_CASE("symbols are found where they are defined, and only there") {
  const Object libc = object_of(in_libc());
  REQUIRE(libc);
  CHECK(std::string(libc.soname()) == "libc.so.6");
  for (const char* name : {"fclose", "getenv", "qsort", "environ", "pthread_create", "dlsym"}) {
    CAPTURE(name);
    CHECK(libc.find(name) == dlsym(RTLD_DEFAULT, name));
  }
  CHECK(libc.find("no_such_function") == nullptr);
  CHECK(libc.find("fclos") == nullptr);
  CHECK(object_of(here()).find("fclose") == nullptr);
}

TEST_CASE("what is linked with a library refers to it") {
  const Object program = object_of(here());
  REQUIRE(program);
  CHECK(program.is_own());  // these sources are part of it
  CHECK_FALSE(object_of(in_libc()).is_own());
  CHECK(fclose(fopen("/dev/null", "r")) == 0);
  CHECK(program.imports("fclose"));
  CHECK_FALSE(program.imports("no_such_function"));
  CHECK_FALSE(object_of(in_libc()).imports("fclose"));
  CHECK(first_to_define("fclose", program) == object_of(in_libc()));
  CHECK_FALSE(first_to_define("no_such_function", program));
  CHECK_FALSE(first_to_define("fclose", Object()));
}

TEST_CASE("where calls of another library's function lead") {
  const Object program = object_of(here());
  CHECK(fclose(fopen("/dev/null", "r")) == 0);
  CHECK(program.leads_to("fclose") == dlsym(RTLD_DEFAULT, "fclose"));
  CHECK(program.leads_to("no_such_function") == nullptr);
  CHECK(object_of(in_libc()).leads_to("fclose") == nullptr);  // it is its own
}

TEST_CASE("which calls were made, where they are bound as they are made") {
  for (const char* path : {LAZY_PLUGIN, BOUND_PLUGIN}) {
    CAPTURE(path);
    const bool is_lazy = path == std::string(LAZY_PLUGIN);
    void* plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    REQUIRE(plugin != nullptr);
    auto* call = reinterpret_cast<int (*)()>(dlsym(plugin, "call_getppid"));
    const Object object = object_of(reinterpret_cast<const void*>(call));
    CHECK(object.holds(reinterpret_cast<const void*>(call)));
    CHECK_FALSE(object.holds(in_libc()));
    CHECK(object.holds(object.leads_to("getppid")) == is_lazy);
    CHECK_FALSE(object.has_called("getppid"));
    CHECK(call() > 0);
    CHECK(object.leads_to("getppid") == dlsym(RTLD_DEFAULT, "getppid"));
    CHECK(object.has_called("getppid") == is_lazy);
    CHECK_FALSE(object.has_called("getpgrp"));
    CHECK_FALSE(object.has_called("no_such_function"));
    dlclose(plugin);
  }
}

TEST_CASE("a library alone in its scope is not shadowed") {
  CHECK_FALSE(object_of(in_libc()).is_shadowed());
  CHECK_FALSE(object_of(here()).is_shadowed());
}

TEST_CASE("no UCX of ours is loaded here") {
  const Patched patched("uct_iface_open");
  CHECK_FALSE(patched.exists());
  CHECK(patched.linked_with(here()) == nullptr);
  CHECK(undecided() == nullptr);
  int on_stack = 0;
  CHECK_FALSE(object_of(&on_stack));
}
