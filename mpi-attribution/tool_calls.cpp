// Performance variables of MPI_T, if uctrace offers some: called by the generated wrappers. Calls
// that are not about ours go to the library, whose functions check whether MPI_T is initialised.
#include <cstdint>

#include "mpi-attribution/communicators.hpp"
#include "mpi-attribution/tool_indices.hpp"
#include "mpi-attribution/tool_monitoring.hpp"

namespace uctrace::mpi {

constinit ToolIndices pvar_indices(kPerformanceVariables);

void give_text(Word text, Word length, const char* value) {
  if (length == 0) return;
  const std::int32_t room = taken(length);
  const std::size_t whole = std::strlen(value);
  if (text != 0 && room > 0) {
    const std::size_t most = static_cast<std::size_t>(room) - 1;
    auto* out = reinterpret_cast<char*>(text);
    const std::size_t some = whole < most ? whole : most;
    std::memcpy(out, value, some);
    out[some] = '\0';
  }
  give(length, static_cast<std::int32_t>(whole) + 1);
}

bool is_text(Word text, const char* value) {
  return text != 0 && std::strcmp(reinterpret_cast<const char*>(text), value) == 0;
}

namespace {

// 0, or the library's error if MPI_T is not initialised.
int readiness() {
  int all = 0;
  return pvar_indices.count(library.tools.pvar_get_num, all);
}

// The result of `act` for a handle of ours in its session.
template <typename Act>
Word with_handle(Word session, Word word, Act act) {
  if (const int error = readiness()) return static_cast<Word>(error);
  const ToolLock held;
  const UctraceFlavour& constants = *library.flavour;
  if (!is_known_session(session)) return static_cast<Word>(constants.t_invalid_session);
  ToolHandle* handle = find_handle(word);
  const bool fits = handle != nullptr && handle->variable != nullptr && handle->session == session;
  return static_cast<Word>(fits ? act(*handle) : constants.t_invalid_handle);
}

// The same for all handles of a session, before the library acts on its own.
template <typename Act>
int with_all(Word session, Act act) {
  if (const int error = readiness()) return error;
  const ToolLock held;
  int error = 0;
  for_each_handle([&](ToolHandle& handle) {
    if (handle.variable == nullptr || handle.session != session) return;
    if (const int problem = act(handle)) error = problem;
  });
  return error;
}

template <typename Act>
Word with_all_or_one(void* original, Word session, Word word, Act act) {
  if (is_for_us(word)) return with_handle(session, word, act);
  if (word != library.all_pvar_handles) return forward(original, session, word);
  const int error = with_all(session, act);
  const Word of_library = forward(original, session, word);
  return static_cast<std::int32_t>(of_library) != 0 ? of_library : static_cast<Word>(error);
}

Word refuse(std::int32_t error) { return static_cast<Word>(error); }

}  // namespace
}  // namespace uctrace::mpi

using namespace uctrace::mpi;

extern "C" {

Word uctrace_MPI_T_finalize(void* original) {
  const Word result = forward(original);
  if (readiness() != 0) {  // that was the last initialisation
    const ToolLock held;
    end_all_sessions();
  }
  return result;
}

Word uctrace_MPI_T_pvar_get_num(void* original, Word out) {
  if (out == 0) return forward(original, out);
  int all = 0;
  const int error = pvar_indices.count(library.tools.pvar_get_num, all);
  if (error == 0) give(out, all);
  return refuse(error);
}

Word uctrace_MPI_T_pvar_get_info(void* original, Word index, Word name, Word name_length,
                                 Word verbosity, Word of_class, Word datatype, Word enumeration,
                                 Word description, Word description_length, Word bound_to,
                                 Word readonly, Word continuous, Word atomic) {
  const FoundIndex found = find_index(pvar_indices, library.tools.pvar_get_num, index);
  if (found.error != 0) return refuse(found.error);
  if (found.ours < 0) {
    return forward(original, found.own, name, name_length, verbosity, of_class, datatype,
                   enumeration, description, description_length, bound_to, readonly, continuous,
                   atomic);
  }
  const PerformanceVariable& variable = performance_variables[found.ours];
  const UctraceFlavour& constants = *library.flavour;
  const bool is_profile = variable.told == Told::profile;
  give_text(name, name_length, variable.name);
  give_text(description, description_length, variable.description);
  give(verbosity, is_profile ? constants.t_user_basic : constants.t_tuner_basic);
  give(of_class, constants.*variable.of_class);
  give_datatype(datatype, is_profile ? library.char_type : library.unsigned_long_type);
  give_word(enumeration, 0);  // MPI_T_ENUM_NULL of every MPI
  give(bound_to, is_profile ? constants.t_no_object : constants.t_comm);
  give(readonly, 0);
  give(continuous, 0);
  give(atomic, is_profile ? 0 : 1);
  return 0;
}

// Our names give our variables, even if the library has one of the same name: that one may be
// inactive or count other things, and a program's result should not depend on how the library was
// started.
Word uctrace_MPI_T_pvar_get_index(void* original, Word name, Word of_class, Word out) {
  if (const int error = readiness()) return refuse(error);
  for (int i = 0; i < kPerformanceVariables && out != 0; ++i) {
    const PerformanceVariable& variable = performance_variables[i];
    if (is_text(name, variable.name) &&
        static_cast<std::int32_t>(of_class) == library.flavour->*variable.of_class) {
      give(out, pvar_indices.of_ours(i));
      return 0;
    }
  }
  const Word result = forward(original, name, of_class, out);
  if (static_cast<std::int32_t>(result) == 0 && out != 0)
    give(out, pvar_indices.of_own(taken(out)));
  return result;
}

Word uctrace_MPI_T_pvar_session_create(void* original, Word out) {
  const Word result = forward(original, out);
  if (static_cast<std::int32_t>(result) == 0) {
    const ToolLock held;
    know_session(word_at(out));
  }
  return result;
}

Word uctrace_MPI_T_pvar_session_free(void* original, Word at) {
  {
    // Before the library can reuse its handle.
    const ToolLock held;
    end_session(word_at(at));
  }
  return forward(original, at);
}

Word uctrace_MPI_T_pvar_handle_alloc(void* original, Word session, Word index, Word object,
                                     Word out, Word count) {
  const FoundIndex found = find_index(pvar_indices, library.tools.pvar_get_num, index);
  if (found.error != 0) return refuse(found.error);
  if (found.ours < 0) return forward(original, session, found.own, object, out, count);
  if (object != 0) describe_world_of_init();
  const ToolLock held;
  if (!is_known_session(session)) return refuse(library.flavour->t_invalid_session);
  if (out == 0 || count == 0) return refuse(library.flavour->t_invalid);
  const PerformanceVariable& variable = performance_variables[found.ours];
  ToolHandle* made = nullptr;
  if (const int error = bind_variable(variable, session, object, &made)) return refuse(error);
  give_word(out, made->word);
  give(count,
       static_cast<std::int32_t>(variable.told == Told::profile ? kVariableText : made->count));
  return 0;
}

Word uctrace_MPI_T_pvar_handle_free(void* original, Word session, Word at) {
  const Word word = word_at(at);
  if (!is_for_us(word)) return forward(original, session, at);
  return with_handle(session, word, [&](ToolHandle& handle) {
    free_handle(&handle);
    give_word(at, 0);  // MPI_T_PVAR_HANDLE_NULL of every MPI
    return 0;
  });
}

Word uctrace_MPI_T_pvar_start(void* original, Word session, Word handle) {
  const bool all = handle == library.all_pvar_handles;
  return with_all_or_one(original, session, handle, [&](ToolHandle& one) {
    return all && one.started ? 0 : start_variable(one);
  });
}

Word uctrace_MPI_T_pvar_stop(void* original, Word session, Word handle) {
  const bool all = handle == library.all_pvar_handles;
  return with_all_or_one(original, session, handle, [&](ToolHandle& one) {
    return all && !one.started ? 0 : stop_variable(one);
  });
}

Word uctrace_MPI_T_pvar_reset(void* original, Word session, Word handle) {
  return with_all_or_one(original, session, handle, reset_variable);
}

Word uctrace_MPI_T_pvar_read(void* original, Word session, Word handle, Word out) {
  if (!is_for_us(handle)) return forward(original, session, handle, out);
  return with_handle(session, handle, [&](ToolHandle& one) {
    return out != 0 ? read_variable(one, reinterpret_cast<void*>(out)) : library.flavour->t_invalid;
  });
}

Word uctrace_MPI_T_pvar_readreset(void* original, Word session, Word handle, Word out) {
  if (!is_for_us(handle)) return forward(original, session, handle, out);
  return with_handle(session, handle, [&](ToolHandle& one) {
    return out != 0 ? read_and_reset_variable(one, reinterpret_cast<void*>(out))
                    : library.flavour->t_invalid;
  });
}

Word uctrace_MPI_T_pvar_write(void* original, Word session, Word handle, Word in) {
  if (!is_for_us(handle)) return forward(original, session, handle, in);
  return with_handle(session, handle, [&](ToolHandle& one) {
    return write_variable(one, reinterpret_cast<const void*>(in));
  });
}

}  // extern "C"
