// The vector elements that a rank needs from others to multiply its rows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "matrix.hpp"

namespace cg {

class Halo {
 public:
  // Finds out who needs what, and renumbers the matrix's columns: owned elements first, then the
  // halo. Collective.
  Halo(BlockMatrix& matrix, MPI_Comm comm);

  // Elements of a vector that is to be multiplied: the rank's own, then the halo.
  std::size_t vector_length() const { return owned_ + needed_.size(); }

  // Fills the halo of `vector` with the owners' current values. Collective.
  void exchange(std::vector<double>& vector);

 private:
  struct Neighbour {
    int rank;
    int first, count;  // range in needed_ (to receive) or in asked_for_ (to send)
  };

  void find_needed(const BlockMatrix& matrix);
  void agree_on_transfers(const RowBlock& rows);
  void renumber_columns(BlockMatrix& matrix) const;

  MPI_Comm comm_;
  std::size_t owned_;
  std::vector<std::int64_t> needed_;  // global numbers, ascending, hence grouped by owner
  std::vector<int> asked_for_;        // local numbers of own elements, grouped by who needs them
  std::vector<Neighbour> sources_, destinations_;
  std::vector<double> outgoing_;
  std::vector<MPI_Request> requests_;
};

}  // namespace cg
