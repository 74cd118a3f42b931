// Numbers of variables in MPI_T. Ours follow those that the library had when first asked. The library may
// get more when it loads a component. No number may change then, so the new ones follow ours.
#pragma once

#include <atomic>

#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

class ToolIndices {
 public:
  constexpr explicit ToolIndices(int ours) : ours_(ours) {}

  // How many there are, ours included. Returns the library's error, if any.
  int count(int (*ask)(int*), int& all) {
    int own = 0;
    if (const int error = ask(&own)) return error;
    int unknown = -1;
    first_.compare_exchange_strong(unknown, own, std::memory_order_acq_rel);
    // After a new initialisation the library may have fewer: ours keep their numbers.
    const int first = first_.load(std::memory_order_acquire);
    all = (own > first ? own : first) + ours_;
    own_.store(own, std::memory_order_release);
    return 0;
  }

  // Whether there is such a number. Some libraries do not check before they use one.
  bool has(int index, int all) const {
    return index >= 0 && index < all &&
           (ours(index) >= 0 || own(index) < own_.load(std::memory_order_acquire));
  }

  // After count() has succeeded: which of ours has this number; -1: none.
  int ours(int index) const {
    const int place = index - first_.load(std::memory_order_acquire);
    return place >= 0 && place < ours_ ? place : -1;
  }
  int of_ours(int place) const { return first_.load(std::memory_order_acquire) + place; }

  // The library's own number, and back.
  int own(int index) const {
    return index < first_.load(std::memory_order_acquire) ? index : index - ours_;
  }
  int of_own(int index) const {
    return index < first_.load(std::memory_order_acquire) ? index : index + ours_;
  }

 private:
  int ours_;
  std::atomic<int> first_{-1};
  std::atomic<int> own_{0};  // how many the library had when it was last asked
};

UCTRACE_OWN extern constinit ToolIndices pvar_indices, cvar_indices;

// The variable of a number: one of ours, else (-1) the library's, unless there is an error of MPI_T.
struct FoundIndex {
  int error;
  int ours;
  Word own;
};
inline FoundIndex find_index(ToolIndices& indices, int (*ask)(int*), Word index) {
  const int number = static_cast<std::int32_t>(index);
  int all = 0;
  if (const int error = indices.count(ask, all)) return {error, -1, 0};
  if (!indices.has(number, all)) return {library.flavour->t_invalid_index, -1, 0};
  const int ours = indices.ours(number);
  return {0, ours, ours < 0 ? static_cast<Word>(indices.own(number)) : 0};
}

template <typename... Words>
Word forward(void* original, Words... words) {
  return reinterpret_cast<Word (*)(Words...)>(original)(words...);
}

// --- output arguments of MPI_T; address 0: not wanted ------------------------

inline void give(Word address, std::int32_t value) {
  if (address != 0) std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}
inline void give_word(Word address, Word value) {
  if (address != 0) std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}
inline void give_datatype(Word address, Handle datatype) {
  if (address != 0)
    std::memcpy(reinterpret_cast<void*>(address), &datatype, library.handle_bytes());
}
inline Word word_at(Word address) {
  Word word = 0;
  if (address != 0) std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}
inline std::int32_t taken(Word address) {
  std::int32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
// Copies as much as fits, and sets the length to the size needed, with the terminating zero.
void give_text(Word text, Word length, const char* value);

bool is_text(Word text, const char* value);

}  // namespace uctrace::mpi
