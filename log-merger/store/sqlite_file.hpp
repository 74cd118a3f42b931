// Writing an SQLite file, and a look into one. Private to profile_db.cpp. Everything throws
// Failure.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace uctrace::sqlite {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class File {
 public:
  // Fills the empty file `path`, no part of which may be a link, without a journal: an unfinished
  // file is discarded.
  explicit File(const std::string& path);
  // Runs statements without results.
  void run(const std::string& sql);
  // The file is complete afterwards.
  void close();
  sqlite3* handle() { return file_.get(); }
  [[noreturn]] void fail(const char* doing);

 private:
  struct Close {
    void operator()(sqlite3* file) const { sqlite3_close_v2(file); }
  };
  std::unique_ptr<sqlite3, Close> file_;
};

// The first text of a query's result; empty if there is none, or the file cannot be read.
std::string one_text(const std::string& path, const char* query);

// Inserts rows: row(1, "name", std::nullopt).
class Insert {
 public:
  Insert(File& file, const std::string& sql);

  template <typename... Values>
  void row(const Values&... values) {
    int column = 0;
    (bind(++column, values), ...);
    step();
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  void bind(int column, std::int64_t value);
  void bind(int column, std::uint64_t value) { bind(column, static_cast<std::int64_t>(value)); }
  void bind(int column, std::int32_t value) { bind(column, std::int64_t{value}); }
  void bind(int column, std::uint32_t value) { bind(column, std::int64_t{value}); }
  void bind(int column, bool value) { bind(column, std::int64_t{value}); }
  void bind(int column, double value);
  void bind(int column, std::string_view value);
  void bind(int column, const std::string& value) { bind(column, std::string_view(value)); }
  void bind(int column, const char* value) { bind(column, std::string_view(value)); }
  template <typename Value>
  void bind(int column, const std::optional<Value>& value) {
    if (value) bind(column, *value);  // else NULL
  }
  void step();

  File& file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace uctrace::sqlite
