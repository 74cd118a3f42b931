// Finds the program's MPI at the first MPI call. Not earlier: a language binding may load it long
// after start-up, and a program without MPI must not pay.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/new_log.hpp"
#include "event-log/recorder/recorder.hpp"
#include "event-log/recorder/switched_on.hpp"
#include "interpose/fork_lock.hpp"
#include "interpose/scope.hpp"
#include "mpi-attribution/library.hpp"
#include "mpi-attribution/way.hpp"

extern "C" {
constinit bool uctrace_mpi_recording = false;
constinit bool uctrace_mpi_offers_variables = false;
}

namespace uctrace::mpi {
namespace {

using interpose::Scope;

constexpr std::size_t kMaxVersionText =
    8192;  // MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the longest

template <typename Function>
bool find_inquiry(Scope& scope, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(scope.find_function(name));
  return function != nullptr;
}

bool find_inquiries(Scope& scope, Inquiries& ask) {
  return find_inquiry(scope, "PMPI_Get_library_version", ask.get_library_version) &&
         find_inquiry(scope, "PMPI_Initialized", ask.initialized) &&
         find_inquiry(scope, "PMPI_Finalized", ask.finalized) &&
         find_inquiry(scope, "PMPI_Query_thread", ask.query_thread) &&
         find_inquiry(scope, "PMPI_Comm_rank", ask.comm_rank) &&
         find_inquiry(scope, "PMPI_Comm_size", ask.comm_size) &&
         find_inquiry(scope, "PMPI_Comm_test_inter", ask.comm_test_inter) &&
         find_inquiry(scope, "PMPI_Comm_remote_size", ask.comm_remote_size) &&
         find_inquiry(scope, "PMPI_Comm_group", ask.comm_group) &&
         find_inquiry(scope, "PMPI_Comm_remote_group", ask.comm_remote_group) &&
         find_inquiry(scope, "PMPI_Comm_get_parent", ask.comm_get_parent) &&
         find_inquiry(scope, "PMPI_Group_size", ask.group_size) &&
         find_inquiry(scope, "PMPI_Group_translate_ranks", ask.group_translate_ranks) &&
         find_inquiry(scope, "PMPI_Group_free", ask.group_free) &&
         find_inquiry(scope, "PMPI_Type_size_x", ask.type_size_x) &&
         find_inquiry(scope, "PMPI_Topo_test", ask.topo_test) &&
         find_inquiry(scope, "PMPI_Cartdim_get", ask.cartdim_get) &&
         find_inquiry(scope, "PMPI_Graph_neighbors_count", ask.graph_neighbors_count) &&
         find_inquiry(scope, "PMPI_Dist_graph_neighbors_count", ask.dist_graph_neighbors_count);
}

void find_neighbors(Scope& scope, Neighbors& neighbors) {
  if (!find_inquiry(scope, "PMPI_Cart_shift", neighbors.cart_shift) ||
      !find_inquiry(scope, "PMPI_Graph_neighbors", neighbors.graph_neighbors) ||
      !find_inquiry(scope, "PMPI_Dist_graph_neighbors", neighbors.dist_graph_neighbors)) {
    neighbors = {};
  }
}

bool find_describing(Scope& scope, Describing& describing) {
  find_inquiry(scope, "PMPI_Type_get_envelope_c", describing.type_get_envelope_c);
  return find_inquiry(scope, "PMPI_Type_get_envelope", describing.type_get_envelope) &&
         find_inquiry(scope, "PMPI_Type_get_extent_x", describing.type_get_extent_x) &&
         find_inquiry(scope, "PMPI_Type_get_true_extent_x", describing.type_get_true_extent_x) &&
         find_inquiry(scope, "PMPI_Type_get_name", describing.type_get_name);
}

bool find_messaging(Scope& scope, Messaging& messaging) {
  return find_inquiry(scope, "PMPI_Comm_idup", messaging.comm_idup) &&
         find_inquiry(scope, "PMPI_Comm_set_errhandler", messaging.comm_set_errhandler) &&
         find_inquiry(scope, "PMPI_Iallgather", messaging.iallgather) &&
         find_inquiry(scope, "PMPI_Isend", messaging.isend) &&
         find_inquiry(scope, "PMPI_Irecv", messaging.irecv) &&
         find_inquiry(scope, "PMPI_Test", messaging.test) &&
         find_inquiry(scope, "PMPI_Cancel", messaging.cancel);
}

bool find_tools(Scope& scope, Tools& tools) {
  return find_inquiry(scope, "PMPI_T_pvar_get_num", tools.pvar_get_num) &&
         find_inquiry(scope, "PMPI_T_cvar_get_num", tools.cvar_get_num) &&
         find_inquiry(scope, "PMPI_T_category_get_info", tools.category_get_info);
}

bool find_handle(Scope& scope, const UctraceHandle& wanted, Handle& handle) {
  handle = wanted.symbol != nullptr ? reinterpret_cast<Handle>(scope.find_variable(wanted.symbol))
                                    : wanted.value;
  return handle != 0;
}

bool names_version(const UctraceFlavour& flavour, const char* text) {
  if (*flavour.versions == nullptr) return true;
  for (const char* const* version = flavour.versions; *version != nullptr; ++version) {
    if (std::strstr(text, *version) != nullptr) return true;
  }
  return false;
}

// If the program takes the address of the function, the address is that of a stand-in in the
// program. So the symbol is searched in the library alone.
bool has_own_symbol(const UctraceFlavour& flavour, const Inquiries& ask) {
  if (flavour.own_symbol == nullptr) return true;
  const auto* known = reinterpret_cast<const void*>(ask.get_library_version);
  void* library = interpose::open_object_at(known);
  const void* found = dlsym(library != nullptr ? library : RTLD_DEFAULT, flavour.own_symbol);
  if (library == nullptr) return found != nullptr;  // linked into the program
  dlclose(library);
  return found != nullptr && interpose::object_at(known).holds(found);
}

// A library with its own ABI returns a negative version or lacks the function.
bool has_standard_abi(Scope& scope) {
  AbiVersion abi_version = nullptr;
  int major = -1, minor = -1;
  return find_inquiry(scope, "PMPI_Abi_get_version", abi_version) &&
         abi_version(&major, &minor) == 0 && major >= 1;
}

// Which UCP tags belong to point-to-point messages (log-merger/mpi/tag_layout.cpp). In Open MPI:
// MPI tags that are not negative (the upper 24 bits). In MPICH: a context that is not of
// collectives, and no protocol message. For other libraries this is not known.
void know_tags(const char* version_text) {
  const auto says = [&](const char* name) { return std::strstr(version_text, name) != nullptr; };
  if (says("Open MPI")) {
    log::set_tag_rule(std::uint64_t{1} << 63, 0);
  } else if (says("MPICH") || says("Intel(R) MPI") || says("MVAPICH")) {
    log::set_tag_rule(std::uint64_t{1} << 48 | std::uint64_t{1} << 31, 0);
  } else {
    log::set_tag_rule(~std::uint64_t{0}, ~std::uint64_t{0});
  }
}

// The handles of MPI_T that are not integers.
bool find_tool_handles(Scope& scope, const UctraceFlavour& flavour) {
  if (!find_handle(scope, flavour.char_type, library.char_type) ||
      !find_handle(scope, flavour.int_type, library.int_type) ||
      !find_handle(scope, flavour.unsigned_long_type, library.unsigned_long_type) ||
      !find_handle(scope, flavour.t_all_handles, library.all_pvar_handles)) {
    return false;
  }
  if (flavour.t_all_handles.symbol != nullptr) {
    library.all_pvar_handles = *reinterpret_cast<const Handle*>(library.all_pvar_handles);
  }
  return true;
}

bool adopt(Scope& scope, const UctraceFlavour& flavour, const char* version_text) {
  if (flavour.is_standard_abi != has_standard_abi(scope) || !names_version(flavour, version_text) ||
      !has_own_symbol(flavour, library.ask) ||
      !find_handle(scope, flavour.comm_null, library.comm_null) ||
      !find_handle(scope, flavour.comm_self, library.comm_self) ||
      !find_handle(scope, flavour.comm_world, library.comm_world) ||
      !find_handle(scope, flavour.datatype_null, library.datatype_null) ||
      !find_handle(scope, flavour.no_op, library.no_op) ||
      !find_handle(scope, flavour.request_null, library.request_null) ||
      !find_handle(scope, flavour.byte, library.byte) ||
      !find_handle(scope, flavour.errors_return, library.errors_return)) {
    return false;
  }
  library.flavour = &flavour;
  library.handle_mask = flavour.handle_bytes == sizeof(std::uint32_t) ? UINT32_MAX : ~Word{0};
  library.proc_null = flavour.proc_null;
  library.any_source = flavour.any_source;
  library.any_tag = flavour.any_tag;
  library.undefined = flavour.undefined;
  library.root = flavour.root;
  library.in_place = static_cast<Word>(std::intptr_t{flavour.in_place});
  library.cartesian = flavour.cartesian;
  library.graph = flavour.graph;
  library.distributed_graph = flavour.distributed_graph;
  know_tags(version_text);
  library.combiners = flavour.combiners;
  uctrace_mpi_constants = {library.handle_mask, library.request_null, library.proc_null,
                           library.any_source, library.any_tag};
  return true;
}

void keep_first_line(const char* version_text) {
  std::size_t length = 0;
  for (; length < sizeof(library.version) - 1; ++length) {
    const char c = version_text[length];
    if (c == '\0' || c == '\n') break;
    library.version[length] = c == '\t' ? ' ' : c;
  }
  library.version[length] = '\0';
}

void turn_off(log::FaultCode code, const char* detail) {
  log::fault(log::Layer::mpi, code, 0, detail);
  log::set_layer(log::Layer::mpi, log::LayerState::off);
}

// False: calls pass through unmeasured, and the log says why.
bool identify_library(Scope& scope) {
  if (!find_inquiries(scope, library.ask)) {
    turn_off(log::FaultCode::symbol_missing, "the MPI library lacks functions of MPI 3");
    return false;
  }
  find_inquiry(scope, "PMPI_Group_rank", library.sessions.group_rank);
  find_inquiry(scope, "PMPI_Group_from_session_pset", library.sessions.group_from_session_pset);
  find_neighbors(scope, library.neighbors);
  library.can_describe = find_describing(scope, library.describing);
  library.can_message = find_messaging(scope, library.messaging);
  library.records_polls = log::is_switched_on("UCTRACE_POLLS");
  library.int_partitions = scope.find_function("PMPI_Psend_init_c") != nullptr;
  static char version_text[kMaxVersionText];
  int length = 0;
  library.ask.get_library_version(version_text, &length);
  keep_first_line(version_text);
  for (unsigned i = 0; i < uctrace_mpi_flavour_count; ++i) {
    if (!adopt(scope, uctrace_mpi_flavours[i], version_text)) continue;
    // Before MPI_Init makes its workers: readers of the counters then wait for the rank.
    log::name_counter(log::CounterNameKind::library, 0, version_text);
    return true;
  }
  turn_off(log::FaultCode::unknown_mpi_library, library.version);
  return false;
}

void publish_originals(Scope& scope) {
  for (unsigned i = 0; i < uctrace_mpi_function_count; ++i) {
    UctraceFunction& function = uctrace_mpi_functions[i];
    void* pmpi = scope.find_function(function.pmpi_name);
    void* mpi = scope.find_function(function.pmpi_name + 1);
    std::atomic_ref(function.original[kUctracePmpi]).store(pmpi, std::memory_order_release);
    std::atomic_ref(function.original[kUctraceMpi]).store(mpi, std::memory_order_release);
  }
}

// A fork child has another log.
void forget_names() {
  for (unsigned i = 0; i < uctrace_mpi_function_count; ++i) {
    std::atomic_ref(uctrace_mpi_functions[i].described).store(false, std::memory_order_relaxed);
  }
}

[[noreturn]] void stop_for_missing(const char* name) {
  dprintf(STDERR_FILENO,
          "uctrace: the program calls %s, but no MPI library it has loaded defines that function "
          "(undefined symbol). Link the program with an MPI library that has it.\n",
          name);
  std::abort();
}

enum class Progress : std::uint8_t { none, under_way, done };

// Recursive: the library's start-up code may call MPI functions during the search.
constinit interpose::RecursiveForkLock resolving;
constinit Progress progress = Progress::none;
constinit std::atomic<bool> called{false};

// Where the search for the library begins. If a plug-in's first MPI call is a tail call, the return
// address is that of the plug-in's caller, which may not be linked with MPI.
const void* place_that_knows_mpi(const void* caller) {
  if (Scope(caller).find_function("PMPI_Init") != nullptr) return caller;
  const void* library = interpose::find_anywhere("PMPI_Init");
  return library != nullptr ? library : caller;
}

void* resolve(UctraceFunction& function, UctraceEntry entry, const void* caller) {
  Scope scope(progress == Progress::none ? place_that_knows_mpi(caller) : caller);
  if (progress == Progress::none && scope.find_function("PMPI_Init") != nullptr) {
    progress = Progress::under_way;
    uctrace_mpi_recording = log::start() &&
                            log::layer_state(log::Layer::mpi) != log::LayerState::unwanted &&
                            identify_library(scope);
    uctrace_mpi_offers_variables = uctrace_mpi_recording && log::counts() &&
                                   find_tools(scope, library.tools) &&
                                   find_tool_handles(scope, *library.flavour);
    log::at_new_log(forget_names);
    log::tell_switches_to(choose_way);
    publish_originals(scope);
    progress = Progress::done;
  }
  if (progress == Progress::done) return function.original[entry];
  return scope.find_function(entry == kUctracePmpi ? function.pmpi_name : function.pmpi_name + 1);
}

void* resolve_held(UctraceFunction& function, UctraceEntry entry, const void* caller) {
  const interpose::Held held(resolving);
  // A search that a thread of the parent began will not end in this process.
  if (held.taken_over() && progress == Progress::under_way) progress = Progress::none;
  return resolve(function, entry, caller);
}

}  // namespace

bool was_called() { return called.load(std::memory_order_relaxed); }

}  // namespace uctrace::mpi

extern "C" void* uctrace_mpi_resolve(unsigned number, UctraceEntry entry, const void* caller) {
  using namespace uctrace::mpi;
  UctraceFunction& function = uctrace_mpi_functions[number];
  called.store(true, std::memory_order_relaxed);
  void* original = resolve_held(function, entry, caller);
  if (original == nullptr) {
    stop_for_missing(entry == kUctracePmpi ? function.pmpi_name : function.pmpi_name + 1);
  }
  return original;
}
