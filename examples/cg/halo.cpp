#include "halo.hpp"

#include <algorithm>

namespace cg {
namespace {

constexpr int kHaloTag = 1;

std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> starts(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) starts[i + 1] = starts[i] + counts[i];
  return starts;
}

}  // namespace

Halo::Halo(BlockMatrix& matrix, MPI_Comm comm) : comm_(comm), owned_(matrix.rows.count) {
  find_needed(matrix);
  agree_on_transfers(matrix.rows);
  renumber_columns(matrix);
  outgoing_.resize(asked_for_.size());
  requests_.resize(sources_.size() + destinations_.size());
}

void Halo::find_needed(const BlockMatrix& matrix) {
  for (std::int64_t column : matrix.columns) {
    if (!matrix.rows.holds(column)) needed_.push_back(column);
  }
  std::sort(needed_.begin(), needed_.end());
  needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
}

void Halo::agree_on_transfers(const RowBlock& rows) {
  int ranks = 0;
  MPI_Comm_size(comm_, &ranks);
  std::vector<int> wanted(ranks, 0), asked(ranks, 0);
  for (std::int64_t element : needed_) ++wanted[owner_of(element, rows.total, ranks)];
  MPI_Alltoall(wanted.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, comm_);

  const std::vector<int> wanted_starts = starts_of(wanted), asked_starts = starts_of(asked);
  std::vector<std::int64_t> elements(asked_starts.back());
  MPI_Alltoallv(needed_.data(), wanted.data(), wanted_starts.data(), MPI_INT64_T, elements.data(),
                asked.data(), asked_starts.data(), MPI_INT64_T, comm_);
  for (std::int64_t element : elements) {
    asked_for_.push_back(static_cast<int>(element - rows.first));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    if (wanted[rank] > 0) sources_.push_back({rank, wanted_starts[rank], wanted[rank]});
    if (asked[rank] > 0) destinations_.push_back({rank, asked_starts[rank], asked[rank]});
  }
}

void Halo::renumber_columns(BlockMatrix& matrix) const {
  for (std::int64_t& column : matrix.columns) {
    if (matrix.rows.holds(column)) {
      column -= matrix.rows.first;
    } else {
      const auto place = std::lower_bound(needed_.begin(), needed_.end(), column);
      column = static_cast<std::int64_t>(owned_) + (place - needed_.begin());
    }
  }
}

void Halo::exchange(std::vector<double>& vector) {
  MPI_Request* request = requests_.data();
  for (const Neighbour& source : sources_) {
    MPI_Irecv(&vector[owned_ + source.first], source.count, MPI_DOUBLE, source.rank, kHaloTag,
              comm_, request++);
  }
  for (std::size_t i = 0; i < asked_for_.size(); ++i) outgoing_[i] = vector[asked_for_[i]];
  for (const Neighbour& destination : destinations_) {
    MPI_Isend(&outgoing_[destination.first], destination.count, MPI_DOUBLE, destination.rank,
              kHaloTag, comm_, request++);
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace cg
