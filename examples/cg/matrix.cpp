#include "matrix.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace cg {
namespace {

struct Entry {
  std::int64_t row, column;
  double value;
};

BlockMatrix compress(RowBlock rows, std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  BlockMatrix matrix;
  matrix.rows = rows;
  matrix.row_starts.assign(rows.count + 1, 0);
  for (const Entry& entry : entries) {
    matrix.columns.push_back(entry.column);
    matrix.values.push_back(entry.value);
    ++matrix.row_starts[entry.row - rows.first + 1];
  }
  for (std::int64_t row = 0; row < rows.count; ++row) {
    matrix.row_starts[row + 1] += matrix.row_starts[row];
  }
  return matrix;
}

// Reads line by line and knows where it is, for error messages.
class MatrixMarketFile {
 public:
  explicit MatrixMarketFile(const std::string& path) : path_(path), stream_(path) {
    if (!stream_) throw std::runtime_error(path + ": cannot be opened");
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw std::runtime_error(path_ + ":" + std::to_string(line_number_) + ": " + problem);
  }

  std::istringstream next_line(const std::string& expected) {
    std::string line;
    ++line_number_;
    if (!std::getline(stream_, line)) fail("the file ends where " + expected + " should be");
    return std::istringstream(line);
  }

  std::istringstream next_data_line(const std::string& expected) {
    for (;;) {
      std::istringstream line = next_line(expected);
      const int first = (line >> std::ws).peek();
      if (first != std::istringstream::traits_type::eof() && first != '%') return line;
    }
  }

 private:
  std::string path_;
  std::ifstream stream_;
  std::int64_t line_number_ = 0;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

// True if the file gives one triangle of a symmetric matrix.
bool read_is_symmetric(MatrixMarketFile& file) {
  std::istringstream header = file.next_line("the header");
  std::string banner, object, format, field, symmetry;
  header >> banner >> object >> format >> field >> symmetry;
  if (banner != "%%MatrixMarket") file.fail("this is not a Matrix Market file");
  if (lower(object) != "matrix" || lower(format) != "coordinate") {
    file.fail("only 'matrix coordinate' is supported");
  }
  if (lower(field) != "real" && lower(field) != "integer") {
    file.fail("values must be real or integer, not '" + field + "'");
  }
  if (lower(symmetry) != "symmetric" && lower(symmetry) != "general") {
    file.fail("the matrix must be symmetric or general, not '" + symmetry + "'");
  }
  return lower(symmetry) == "symmetric";
}

}  // namespace

RowBlock::RowBlock(std::int64_t total_rows, int rank, int ranks)
    : total(total_rows), first(total_rows * rank / ranks) {
  count = total_rows * (rank + 1) / ranks - first;
}

int owner_of(std::int64_t row, std::int64_t total_rows, int ranks) {
  return static_cast<int>(((row + 1) * ranks - 1) / total_rows);
}

BlockMatrix make_poisson(Grid grid, int rank, int ranks) {
  const RowBlock rows(grid.x * grid.y * grid.z, rank, ranks);
  std::vector<Entry> entries;
  for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row) {
    const std::int64_t x = row % grid.x, y = row / grid.x % grid.y, z = row / (grid.x * grid.y);
    const auto add_neighbour = [&](bool inside, std::int64_t offset) {
      if (inside) entries.push_back({row, row + offset, -1.0});
    };
    entries.push_back({row, row, 6.0});
    add_neighbour(x > 0, -1);
    add_neighbour(x < grid.x - 1, 1);
    add_neighbour(y > 0, -grid.x);
    add_neighbour(y < grid.y - 1, grid.x);
    add_neighbour(z > 0, -grid.x * grid.y);
    add_neighbour(z < grid.z - 1, grid.x * grid.y);
  }
  return compress(rows, std::move(entries));
}

BlockMatrix read_matrix_market(const std::string& path, int rank, int ranks) {
  MatrixMarketFile file(path);
  const bool symmetric = read_is_symmetric(file);
  std::int64_t row_count = 0, column_count = 0, entry_count = 0;
  std::istringstream size = file.next_data_line("the size");
  if (!(size >> row_count >> column_count >> entry_count) || row_count < 1 || entry_count < 0) {
    file.fail("expected the numbers of rows, columns and entries");
  }
  if (row_count > kMaxRows) file.fail("more than " + std::to_string(kMaxRows) + " rows");
  if (row_count != column_count) file.fail("the matrix is not square");

  const RowBlock rows(row_count, rank, ranks);
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < entry_count; ++i) {
    Entry entry{};
    std::istringstream line = file.next_data_line("entry " + std::to_string(i + 1));
    if (!(line >> entry.row >> entry.column >> entry.value)) {
      file.fail("expected row, column and value");
    }
    if (entry.row < 1 || entry.row > row_count || entry.column < 1 || entry.column > row_count) {
      file.fail("the entry lies outside the matrix");
    }
    entry.row -= 1;  // the format counts from 1
    entry.column -= 1;
    if (rows.holds(entry.row)) entries.push_back(entry);
    if (symmetric && entry.row != entry.column && rows.holds(entry.column)) {
      entries.push_back({entry.column, entry.row, entry.value});
    }
  }
  return compress(rows, std::move(entries));
}

}  // namespace cg
