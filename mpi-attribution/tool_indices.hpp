// Numbers of variables in MPI_T. Ours come behind those that the library had when it was first
// asked. It may get more when a part of it is loaded; no number may change then, so these come
// behind ours.
#pragma once

#include <atomic>

#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

class ToolIndices {
 public:
  constexpr explicit ToolIndices(int ours) : ours_(ours) {}

  // How many there are, ours included. An error of MPI_T: the library says none.
  int count(int (*ask)(int*), int& all) {
    int own = 0;
    if (const int error = ask(&own)) return error;
    int unknown = -1;
    first_.compare_exchange_strong(unknown, own, std::memory_order_acq_rel);
    // The library may have fewer when it begins anew: ours keep their numbers.
    const int first = first_.load(std::memory_order_acquire);
    all = (own > first ? own : first) + ours_;
    own_.store(own, std::memory_order_release);
    return 0;
  }

  // Whether there is such a number. Not every library looks before it uses one.
  bool has(int index, int all) const {
    return index >= 0 && index < all &&
           (ours(index) >= 0 || own(index) < own_.load(std::memory_order_acquire));
  }

  // Once count() has succeeded. Which of ours has this number; -1: none.
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

// Where a number leads: to one of ours, else (-1) to the library's own, unless there is an error of MPI_T.
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

// --- what calls of MPI_T give back; an address that is 0 is not asked for ------------------------

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
// As much as there is room for; the length is then what would be needed, with the end.
void give_text(Word text, Word length, const char* value);

bool is_text(Word text, const char* value);

}  // namespace uctrace::mpi
