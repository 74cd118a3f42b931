// Sparse matrices in block rows: rank r of p owns rows n*r/p .. n*(r+1)/p.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cg {

// MPI counts elements with an int.
inline constexpr std::int64_t kMaxRows = INT32_MAX;

// A contiguous share of the `total` rows of the global matrix.
struct RowBlock {
  std::int64_t total = 0, first = 0, count = 0;

  RowBlock() = default;
  RowBlock(std::int64_t total_rows, int rank, int ranks);
  bool holds(std::int64_t row) const { return row >= first && row < first + count; }
};

// Rank that owns a row (or the vector element of that number).
int owner_of(std::int64_t row, std::int64_t total_rows, int ranks);

// Compressed rows of one block. Columns are global numbers.
struct BlockMatrix {
  RowBlock rows;
  std::vector<std::int64_t> row_starts;  // rows.count + 1
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

struct Grid {
  std::int64_t x, y, z;
};

// The 7-point Laplacian on a grid with zero boundary values.
BlockMatrix make_poisson(Grid grid, int rank, int ranks);

// Reads this rank's rows from a Matrix Market file (coordinate, real or integer, symmetric or
// general, square). Throws std::runtime_error with file and line.
BlockMatrix read_matrix_market(const std::string& path, int rank, int ranks);

}  // namespace cg
