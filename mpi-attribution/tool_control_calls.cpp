// Control variables and categories of MPI_T, as tool_calls.cpp does performance variables. Ours are
// in no category. The library's categories stay the same, with the numbers that its variables have
// here.
#include <cstdint>

#include "mpi-attribution/tool_indices.hpp"
#include "mpi-attribution/tool_monitoring.hpp"

namespace uctrace::mpi {

constinit ToolIndices cvar_indices(kControlVariables);

namespace {

int readiness() {
  int all = 0;
  return cvar_indices.count(library.tools.cvar_get_num, all);
}

template <typename Act>
Word with_control(Word word, Act act) {
  if (const int error = readiness()) return static_cast<Word>(error);
  const ToolLock held;
  ToolHandle* handle = find_handle(word);
  const bool fits = handle != nullptr && handle->variable == nullptr;
  return static_cast<Word>(fits ? act(*handle) : library.flavour->t_invalid_handle);
}

// The library writes the numbers of the category, `room` at most.
void give_indices(const ToolIndices& indices, Word list, std::int32_t room, std::int32_t there) {
  for (std::int32_t i = 0; i < room && i < there; ++i) {
    const Word at = list + static_cast<Word>(i) * sizeof(std::int32_t);
    give(at, indices.of_own(taken(at)));
  }
}

struct InCategory {
  int cvars = 0, pvars = 0;
};

InCategory count_in(Word category) {
  InCategory found;
  int name_room = 0, description_room = 0, categories = 0;
  library.tools.category_get_info(static_cast<std::int32_t>(category), nullptr, &name_room, nullptr,
                                  &description_room, &found.cvars, &found.pvars, &categories);
  return found;
}

}  // namespace
}  // namespace uctrace::mpi

using namespace uctrace::mpi;

extern "C" {

Word uctrace_MPI_T_cvar_get_num(void* original, Word out) {
  if (out == 0) return forward(original, out);
  int all = 0;
  const int error = cvar_indices.count(library.tools.cvar_get_num, all);
  if (error == 0) give(out, all);
  return static_cast<Word>(error);
}

Word uctrace_MPI_T_cvar_get_info(void* original, Word index, Word name, Word name_length,
                                 Word verbosity, Word datatype, Word enumeration, Word description,
                                 Word description_length, Word bound_to, Word scope) {
  const FoundIndex found = find_index(cvar_indices, library.tools.cvar_get_num, index);
  if (found.error != 0) return static_cast<Word>(found.error);
  if (found.ours < 0) {
    return forward(original, found.own, name, name_length, verbosity, datatype, enumeration, description,
                   description_length, bound_to, scope);
  }
  const ControlVariable& variable = control_variables[found.ours];
  const UctraceFlavour& constants = *library.flavour;
  give_text(name, name_length, variable.name);
  give_text(description, description_length, variable.description);
  give(verbosity, found.ours == kEnable ? constants.t_tuner_basic : constants.t_mpidev_all);
  give_datatype(datatype, variable.is_text ? library.char_type : library.int_type);
  give_word(enumeration, 0);
  give(bound_to, constants.t_no_object);
  give(scope, constants.t_local);
  return 0;
}

Word uctrace_MPI_T_cvar_get_index(void* original, Word name, Word out) {
  if (const int error = readiness()) return static_cast<Word>(error);
  for (int i = 0; i < kControlVariables && out != 0; ++i) {
    if (!is_text(name, control_variables[i].name)) continue;
    give(out, cvar_indices.of_ours(i));
    return 0;
  }
  const Word result = forward(original, name, out);
  if (static_cast<std::int32_t>(result) == 0 && out != 0)
    give(out, cvar_indices.of_own(taken(out)));
  return result;
}

Word uctrace_MPI_T_cvar_handle_alloc(void* original, Word index, Word object, Word out,
                                     Word count) {
  const FoundIndex found = find_index(cvar_indices, library.tools.cvar_get_num, index);
  if (found.error != 0) return static_cast<Word>(found.error);
  if (found.ours < 0) return forward(original, found.own, object, out, count);
  if (out == 0 || count == 0) return static_cast<Word>(library.flavour->t_invalid);
  const ToolLock held;
  ToolHandle* made = make_handle(0, 0);
  if (made == nullptr) return static_cast<Word>(library.flavour->t_out_of_handles);
  made->control = found.ours;
  give_word(out, made->word);
  give(count, control_variables[found.ours].is_text ? static_cast<std::int32_t>(kVariableText) : 1);
  return 0;
}

Word uctrace_MPI_T_cvar_handle_free(void* original, Word at) {
  const Word word = word_at(at);
  if (!is_for_us(word)) return forward(original, at);
  return with_control(word, [&](ToolHandle& handle) {
    free_handle(&handle);
    give_word(at, 0);  // MPI_T_CVAR_HANDLE_NULL of every MPI
    return 0;
  });
}

Word uctrace_MPI_T_cvar_read(void* original, Word handle, Word out) {
  if (!is_for_us(handle)) return forward(original, handle, out);
  return with_control(handle, [&](ToolHandle& one) {
    if (out == 0) return library.flavour->t_invalid;
    read_control(one.control, reinterpret_cast<void*>(out));
    return 0;
  });
}

Word uctrace_MPI_T_cvar_write(void* original, Word handle, Word in) {
  if (!is_for_us(handle)) return forward(original, handle, in);
  return with_control(handle, [&](ToolHandle& one) {
    return write_control(one.control, reinterpret_cast<const void*>(in));
  });
}

Word uctrace_MPI_T_category_get_cvars(void* original, Word category, Word room, Word list) {
  const Word result = forward(original, category, room, list);
  if (static_cast<std::int32_t>(result) == 0 && list != 0 && readiness() == 0) {
    give_indices(cvar_indices, list, static_cast<std::int32_t>(room), count_in(category).cvars);
  }
  return result;
}

Word uctrace_MPI_T_category_get_pvars(void* original, Word category, Word room, Word list) {
  int all = 0;
  const Word result = forward(original, category, room, list);
  if (static_cast<std::int32_t>(result) == 0 && list != 0 &&
      pvar_indices.count(library.tools.pvar_get_num, all) == 0) {
    give_indices(pvar_indices, list, static_cast<std::int32_t>(room), count_in(category).pvars);
  }
  return result;
}

}  // extern "C"
