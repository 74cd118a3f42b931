// Solves A x = b by the method of conjugate gradients, the rows of A shared among the ranks of an
// MPI job. b is A times ones, so the solution is known: all ones.

#include <mpi.h>

#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "halo.hpp"
#include "matrix.hpp"

namespace {

constexpr const char* kUsage =
    "usage: cg [options] [MATRIX.mtx]\n"
    "\n"
    "Solves A x = b by conjugate gradients. A is read from a Matrix Market file, or is a\n"
    "3-D Poisson problem; b is chosen so that x is all ones.\n"
    "\n"
    "  --poisson NX [NY NZ]   grid of the Poisson problem (default 24; NY, NZ default to NX)\n"
    "  --iterations N         stop after N iterations (default 500)\n"
    "  --tolerance T          stop at this relative residual (default 1e-8)\n"
    "  --help                 print this text\n";

struct Options {
  std::string matrix_path;  // empty: the Poisson problem
  cg::Grid grid{24, 24, 24};
  int iterations = 500;
  double tolerance = 1e-8;
  bool help = false;
};

template <typename Number>
Number parse_positive(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0) || value > 1e9 ||
      static_cast<double>(static_cast<Number>(value)) != value) {
    throw std::runtime_error(option + ": '" + text + "' is not a valid number");
  }
  return static_cast<Number>(value);
}

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto next_value = [&] {
      if (i + 1 == arguments.size()) throw std::runtime_error(option + " needs a value");
      return arguments[++i];
    };
    const auto more_numbers = [&] {
      return i + 2 < arguments.size() && std::isdigit(arguments[i + 1][0]) != 0 &&
             std::isdigit(arguments[i + 2][0]) != 0;
    };
    if (option == "--help") {
      options.help = true;
    } else if (option == "--poisson") {
      const auto length = parse_positive<std::int64_t>(option, next_value());
      options.grid = {length, length, length};
      if (more_numbers()) {
        options.grid.y = parse_positive<std::int64_t>(option, next_value());
        options.grid.z = parse_positive<std::int64_t>(option, next_value());
      }
    } else if (option == "--iterations") {
      options.iterations = parse_positive<int>(option, next_value());
    } else if (option == "--tolerance") {
      options.tolerance = parse_positive<double>(option, next_value());
    } else if (option[0] == '-') {
      throw std::runtime_error("unknown option " + option + "; see --help");
    } else {
      options.matrix_path = option;
    }
  }
  const cg::Grid& grid = options.grid;
  if (double(grid.x) * double(grid.y) * double(grid.z) > double(cg::kMaxRows)) {
    throw std::runtime_error("--poisson: more than " + std::to_string(cg::kMaxRows) + " points");
  }
  return options;
}

// Sums over the elements of all ranks. Vectors may have a halo behind their own elements.
double dot(const std::vector<double>& a, const std::vector<double>& b, std::size_t owned,
           MPI_Comm comm) {
  const double mine = std::inner_product(a.begin(), a.begin() + owned, b.begin(), 0.0);
  double total = 0;
  MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, comm);
  return total;
}

void multiply(const cg::BlockMatrix& matrix, cg::Halo& halo, std::vector<double>& vector,
              std::vector<double>& product) {
  halo.exchange(vector);
  for (std::int64_t row = 0; row < matrix.rows.count; ++row) {
    double sum = 0;
    for (std::int64_t i = matrix.row_starts[row]; i < matrix.row_starts[row + 1]; ++i) {
      sum += matrix.values[i] * vector[matrix.columns[i]];
    }
    product[row] = sum;
  }
}

struct Solution {
  std::vector<double> x;  // this rank's elements
  int iterations = 0;
  double relative_residual = 0;
};

Solution solve(const cg::BlockMatrix& matrix, cg::Halo& halo, const Options& options,
               MPI_Comm comm) {
  const std::size_t owned = matrix.rows.count;
  Solution solution;
  solution.x.assign(owned, 0.0);
  std::vector<double> ones(halo.vector_length(), 1.0), residual(owned), product(owned);
  multiply(matrix, halo, ones, residual);  // b - A x, with x = 0
  std::vector<double> direction(residual);
  direction.resize(halo.vector_length());

  double norm = dot(residual, residual, owned, comm);
  const double first_norm = norm;
  const double goal = options.tolerance * options.tolerance * first_norm;
  while (norm > goal && solution.iterations < options.iterations) {
    multiply(matrix, halo, direction, product);
    const double curvature = dot(direction, product, owned, comm);
    if (!(curvature > 0)) throw std::runtime_error("the matrix is not positive definite");
    const double step = norm / curvature;
    for (std::size_t i = 0; i < owned; ++i) {
      solution.x[i] += step * direction[i];
      residual[i] -= step * product[i];
    }
    const double new_norm = dot(residual, residual, owned, comm);
    for (std::size_t i = 0; i < owned; ++i) {
      direction[i] = residual[i] + new_norm / norm * direction[i];
    }
    norm = new_norm;
    ++solution.iterations;
  }
  solution.relative_residual = first_norm > 0 ? std::sqrt(norm / first_norm) : 0;
  return solution;
}

// The whole vector on rank 0, nothing elsewhere.
std::vector<double> gather(const std::vector<double>& mine, std::int64_t total, MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<int> counts(ranks), starts(ranks);
  for (int i = 0; i < ranks; ++i) {
    const cg::RowBlock block(total, i, ranks);
    counts[i] = static_cast<int>(block.count);
    starts[i] = static_cast<int>(block.first);
  }
  std::vector<double> whole(rank == 0 ? total : 0);
  MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, whole.data(), counts.data(),
              starts.data(), MPI_DOUBLE, 0, comm);
  return whole;
}

void run(const Options& options, MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  cg::BlockMatrix matrix = options.matrix_path.empty()
                               ? cg::make_poisson(options.grid, rank, ranks)
                               : cg::read_matrix_market(options.matrix_path, rank, ranks);
  cg::Halo halo(matrix, comm);

  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  const Solution solution = solve(matrix, halo, options, comm);
  const double seconds = MPI_Wtime() - start;

  const auto my_nonzeros = static_cast<std::int64_t>(matrix.values.size());
  std::int64_t nonzeros = 0;
  MPI_Reduce(&my_nonzeros, &nonzeros, 1, MPI_INT64_T, MPI_SUM, 0, comm);
  const std::vector<double> x = gather(solution.x, matrix.rows.total, comm);
  if (rank != 0) return;
  std::printf("rows        %lld\n", static_cast<long long>(matrix.rows.total));
  std::printf("nonzeros    %lld\n", static_cast<long long>(nonzeros));
  std::printf("iterations  %d\n", solution.iterations);
  std::printf("residual    %.3e\n", solution.relative_residual);
  std::printf("checksum    %.6f\n", std::accumulate(x.begin(), x.end(), 0.0));
  std::printf("time        %.3f s on %d ranks\n", seconds, ranks);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const Options options = parse_options({argv + 1, argv + argc});
    if (!options.help) run(options, MPI_COMM_WORLD);
    if (options.help && rank == 0) std::fputs(kUsage, stdout);
  } catch (const std::exception& error) {
    // All ranks read the same input and fail for the same reason: one reports it.
    if (rank == 0) std::fprintf(stderr, "cg: %s\n", error.what());
    MPI_Finalize();
    return 1;
  }
  MPI_Finalize();
  return 0;
}
