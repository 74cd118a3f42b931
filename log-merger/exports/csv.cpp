// A file for each table of the store, as declared there: new columns and tables are included
// automatically.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "log-merger/exports/formats.hpp"
#include "log-merger/exports/output.hpp"
#include "log-merger/folder/new_folder.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/store/store_tables.hpp"

namespace uctrace::exports {
namespace {

// These are sums of other tables, which a reader computes just as fast.
template <typename Row>
constexpr bool kSumsUpOthers =
    store::kIsOneOf<Row, Facet, MessageSum, HopSum, CallSum, OperationSum, TransferSum, PathStep,
                    TrafficClass, ClassStep, TrafficCell, CellTotal, CallGroup, CellSlab, TotalSlab,
                    SlabActivity, RowBlock>;

// One file of the folder.
class Sheet {
 public:
  Sheet(const NewFolder& folder, std::string_view table)
      : fd_(open((folder.path() / fmt::format("{}.csv", table)).c_str(),
                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)),
        output_(fd_) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "making a file");
  }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;
  ~Sheet() {
    if (fd_ >= 0) close(fd_);
  }

  // Fields of a line, in their order.
  std::string& field() {
    if (!first_) output_.text() += ',';
    first_ = false;
    return output_.text();
  }
  void end_line() {
    output_.text() += '\n';
    first_ = true;
    output_.appended();
  }
  // Some file systems report only here that they are full.
  void end() {
    output_.flush();
    const int fd = fd_;
    fd_ = -1;
    if (close(fd) != 0) throw std::system_error(errno, std::generic_category(), "writing");
  }

 private:
  int fd_;
  Output output_;
  bool first_ = true;
};

// Of the column's values after differences are added up.
template <typename Row, typename Value>
std::string_view title_of(const store::Column<Row, Value>& column) {
  const std::string_view name = column.name;
  return column.base == nullptr ? name : name.substr(0, name.find("_minus_"));
}

template <typename Value>
void append(std::string& line, const Run& run, store::Unit unit, const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>) {
    line += csv_field(value);
  } else if constexpr (std::is_enum_v<Value>) {
    line += name_of(value);
  } else {
    if constexpr (std::is_same_v<Value, TextId>) {
      if (unit == store::Unit::text) {
        line += csv_field(run.texts[value]);
        return;
      }
    }
    if constexpr (std::is_same_v<Value, std::int64_t>) {
      if (unit == store::Unit::ns && value == -1) return;  // not known
    }
    fmt::format_to(std::back_inserter(line), "{}", +value);
  }
}

template <typename Row>
void append(Sheet& sheet, const Run& run, const Row& row) {
  store::for_each_of(store::Table<Row>::columns, [&](const auto& column) {
    append(sheet.field(), run, column.unit, row.*column.member);
  });
  sheet.end_line();
}

template <typename Row, typename ForEachRow>
void write_table(const NewFolder& folder, const Run& run, const ForEachRow& for_each) {
  Sheet sheet(folder, store::Table<Row>::name);
  store::for_each_of(store::Table<Row>::columns,
                     [&](const auto& column) { sheet.field() += title_of(column); });
  sheet.end_line();
  for_each([&](const Row& row) { append(sheet, run, row); });
  sheet.end();
}

void write_remarks(const NewFolder& folder, const Remarks& remarks) {
  Sheet sheet(folder, "notes");
  sheet.field() += "note";
  sheet.end_line();
  for (const std::string& remark : remarks) {
    sheet.field() += csv_field(remark);
    sheet.end_line();
  }
  sheet.end();
}

}  // namespace

void write_csv(const RowSource& source, const ExportOptions& options, Remarks& remarks) {
  const Run& run = source.run();
  NewFolder folder(options.path);
  write_table<Run>(folder, run, [&](const auto& visit) { visit(run); });
  store::for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    if constexpr (store::kGrows<Row> && !kSumsUpOthers<Row>) {
      write_table<Row>(folder, run, [&](const auto& visit) {
        for_each_row(source, Wanted<Row>::all(), [&](const Row& row, std::size_t) { visit(row); });
      });
    } else if constexpr (!kSumsUpOthers<Row>) {
      write_table<Row>(folder, run, [&](const auto& visit) {
        for (const Row& row : run.*rows) visit(row);
      });
    }
  });
  write_remarks(folder, remarks);
  folder.publish();
}

}  // namespace uctrace::exports
