// Detects a UCX in use that bypasses this library: the libraries of a plug-in opened with
// RTLD_DEEPBIND are bound to themselves. Every user of UCX opens interfaces, so calls of
// uct_iface_open that lead to another library than this one reveal it.
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>
#include <iterator>

#include "event-log/recorder/last_look.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/objects.hpp"
#include "interpose/original.hpp"
#include "uct-shim/ucp_caller.hpp"

namespace uctrace::uct {
namespace {

using interpose::Object;
using log::FaultCode;
using log::Layer;

// Calls visit(object) for each loaded object until a call returns true.
template <typename Visit>
bool any_loaded(Visit visit) {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void* data) {
               const Object object(*info);
               return object && (*static_cast<Visit*>(data))(object) ? 1 : 0;
             },
             &visit) != 0;
}

// Whether anything was loaded since the last look; only then all objects are examined. Two loads
// and a call of the loader.
bool anything_came() {
  static constinit std::atomic<unsigned long long> before{0};
  unsigned long long loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* loads) {
        *static_cast<unsigned long long*>(loads) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return before.exchange(loads) != loads;
}

bool needs(const Object& user, const Object& library) {
  bool is_needed = false;
  user.for_each_needed(
      [&](const char* name) { is_needed = is_needed || strcmp(name, library.soname()) == 0; });
  return is_needed;
}

// A UCX loads its transport modules only when it is used.
bool has_modules(const Object& libuct) {
  return any_loaded([&](const Object& module) {
    return strncmp(module.soname(), "libuct_", 7) == 0 && needs(module, libuct);
  });
}

// Whether others use it through this library: they may have loaded the modules.
bool has_seen_users(const Object& libuct) {
  return any_loaded([&](const Object& user) {
    const void* to = needs(user, libuct) ? user.leads_to("uct_iface_open") : nullptr;
    return to != nullptr && interpose::object_of(to).is_own();
  });
}

// What an object's calls of uct_iface_open tell, in ascending order.
enum class Use : std::uint8_t {
  none,     // it makes none, or they reach this library
  later,    // not bound yet: it made none so far
  unclear,  // they would bypass us, but it was bound when loaded, and its UCX has no modules
  certain   // it made one that bypassed us, or its UCX has modules and no other users
};

Use use_by(const Object& user, const void* to) {
  if (to == nullptr) return Use::none;
  if (user.holds(to)) return Use::later;
  const Object libuct = interpose::object_of(to);
  if (!libuct || libuct.is_own()) return Use::none;
  const bool is_certain =
      user.has_called("uct_iface_open") || (has_modules(libuct) && !has_seen_users(libuct));
  return is_certain ? Use::certain : Use::unclear;
}

bool may_use_uct(const Object& object) {
  bool is_linked = false;
  object.for_each_needed(
      [&](const char* name) { is_linked = is_linked || strncmp(name, "libuct", 6) == 0; });
  return is_linked && !object.is_own();
}

struct Found {
  Use use = Use::none;
  const void* library = nullptr;  // an address in it

  void take(Use other, const void* address) {
    if (other > use) *this = {other, address};
  }
};

struct Users {
  Found libucp, others;
  bool any_later = false;
};

Users look_at_users() {
  Users users;
  any_loaded([&](const Object& object) {
    const void* in_libucp = object.find("ucp_worker_create");
    if (!may_use_uct(object)) return false;
    const void* to = object.leads_to("uct_iface_open");
    const Use use = use_by(object, to);
    users.any_later = users.any_later || use == Use::later;
    (in_libucp != nullptr ? users.libucp : users.others)
        .take(use, in_libucp != nullptr ? in_libucp : to);
    return false;
  });
  return users;
}

// Open MPI redirects libc's mmap to its own function, by a jump at its beginning or in the callers'
// tables. If Open MPI was then unloaded without our noticing, the next mmap crashes the process;
// starting a log would do that.
bool mmap_leads_nowhere() {
  const auto* function = reinterpret_cast<const unsigned char*>(&mmap);
  if (!interpose::object_of(function)) return true;
#ifdef __x86_64__
  constexpr unsigned char kMovToR11[] = {0x49, 0xbb}, kJumpToR11[] = {0x41, 0xff, 0xe3};
  const void* target;
  const unsigned char* const behind = function + sizeof kMovToR11 + sizeof target;
  if (memcmp(function, kMovToR11, sizeof kMovToR11) == 0 &&
      memcmp(behind, kJumpToR11, sizeof kJumpToR11) == 0) {
    memcpy(&target, function + sizeof kMovToR11, sizeof target);
    return !interpose::object_of(target);
  }
#endif
  return false;
}

void report(bool is_libucp, Bypass how, const char* path) {
  const FaultCode code = is_libucp ? FaultCode::ucp_bypassed : FaultCode::uct_bypassed;
  report_bypassed(Layer::uct, code, how, path);
  if (is_libucp) report_bypassed(Layer::ucp, code, how, path);
}

// An unclear use may become certain, or its library be gone by the end: so the first path of each
// kind is kept until then.
class Unclear {
 public:
  constexpr explicit Unclear(bool is_libucp) : is_libucp_(is_libucp) {}

  void keep(const char* path) {
    if (!is_taken_.exchange(true)) {
      strncpy(path_, path, sizeof path_ - 1);
      is_kept_.store(true, std::memory_order_release);
    }
  }
  void tell() const {
    // A running log needs no more memory for this.
    if (is_kept_.load(std::memory_order_acquire) &&
        (log::log_number() != 0 || !mmap_leads_nowhere())) {
      report(is_libucp_, Bypass::unclear, path_);
    }
  }

 private:
  bool is_libucp_;
  std::atomic<bool> is_taken_{false}, is_kept_{false};
  char path_[PATH_MAX]{};
};
constinit Unclear unclear[] = {Unclear(false), Unclear(true)};

void look(log::Moment moment) {
  static constinit std::atomic<bool> look_again{false};  // an object had use `later`
  if (anything_came() || look_again.load()) {
    const Users users = look_at_users();
    look_again.store(users.any_later);
    for (const bool is_libucp : {true, false}) {
      const Found& found = is_libucp ? users.libucp : users.others;
      if (found.use < Use::unclear) continue;
      const char* path = interpose::module_path(found.library);
      if (found.use == Use::certain) {
        report(is_libucp, Bypass::certain, path);
      } else {
        unclear[is_libucp].keep(path);
      }
    }
  }
  if (moment == log::Moment::end) {
    for (auto kind = std::rbegin(unclear); kind != std::rend(unclear); ++kind) kind->tell();
  }
}

__attribute__((constructor)) void watch() { log::add_last_look(look); }

}  // namespace
}  // namespace uctrace::uct
