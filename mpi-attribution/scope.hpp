// Where a caller would find the symbols of MPI if this library were not there.
#pragma once

namespace uctrace::mpi {

// The global scope behind this library; failing that, the caller's own (a plug-in or a language
// binding opened with RTLD_LOCAL). No library is named, so any soname and path works.
class Scope {
 public:
  explicit Scope(const void* caller) : caller_(caller) {}

  // The address of a function, nullptr if the caller could not reach it. About 1 us.
  void* find_function(const char* symbol);

  // The same for a variable. A program may hold the only valid copy of a library's variable (a copy
  // relocation), so the search starts at the program.
  void* find_variable(const char* symbol);

 private:
  void* find_in_own(const char* symbol);

  const void* caller_;
  void* own_ = nullptr;  // handle of the caller's object; stays open, which pins caller and MPI
};

// The program or library, loaded at [begin, end), that holds the code of a caller.
struct CallerObject {
  const void* begin;
  const void* end;
  bool is_fortran_binding;  // it defines the Fortran functions of MPI
};

// Describes the object that holds the code at `caller`; an empty range if no object does (code made
// at run time). About 10 us.
CallerObject object_of(const void* caller);

}  // namespace uctrace::mpi
