// Describes where a thread of an unfinished job sits, for `uctrace hang` and the notes of a run
// (open_call_notes.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "log-merger/hang/sitters.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The same for all threads that sit in one place; the time since when is separate.
struct Seat {
  std::string one = {}, several = {};  // "is" and "are"
  std::string where = {};  // "in MPI_Recv at main (app.c:12) on MPI_COMM_WORLD, peer 1, tag 5"
  std::string_view since = "since";  // what the time is: a literal
  std::string more = {};             // after the times, with its conjunction

  auto operator<=>(const Seat&) const = default;
  // Without the time if that is -1, and without the longest duration if that is 0.
  std::string words(bool of_one, std::int64_t since_ns, std::int64_t longest_ns = 0) const;
};

class SeatWords {
 public:
  // Both must outlive it.
  SeatWords(const Job& job, const Sitters& sitters)
      : job_(job), sitters_(sitters), job_may_run_(may_run(state_of(job))) {}

  Seat seat(const Sitter& sitter) const;
  // The time that `Seat::since` is about; -1: there is none.
  std::int64_t since_ns(const Sitter& sitter) const;
  // "is in MPI_Recv at main (app.c:12) on MPI_COMM_WORLD, peer 1, tag 5 since 1.2 s of the job"
  std::string words(const Sitter& sitter) const;

  // "MPI_Recv at main (app.c:12)"
  std::string with_site(CallIndex call) const;
  // It may be in a loop of MPI_Parrived, whose unsuccessful calls have no records.
  bool may_ask_for_partitions(const Sitter& sitter) const;
  // Nothing newer than its log is known about it, or it ended before the others.
  bool has_ended(const Sitter& sitter) const;

 private:
  std::string with_arguments(CallIndex call) const;
  Seat ended(const Sitter& sitter) const;
  Seat in_no_call(const Sitter& sitter, Seat seat) const;

  const Job& job_;
  const Sitters& sitters_;
  const bool job_may_run_;
};

}  // namespace uctrace::merge
