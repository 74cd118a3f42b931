#include "log-merger/store/sqlite_file.hpp"

namespace uctrace::sqlite {

void File::fail(const char* doing) {
  throw Failure(std::string(doing) + " failed (" + sqlite3_errmsg(handle()) + ")");
}

File::File(const std::string& path) {
  sqlite3* file = nullptr;
  // Nobody else knows the file yet, and some network file systems refuse locks: none are taken. One
  // thread writes it: SQLite's own locks, at every call, are a fifth of its time.
  const int status = sqlite3_open_v2(
      path.c_str(), &file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
      "unix-none");
  file_.reset(file);
  if (file == nullptr) throw Failure("opening the file failed (out of memory)");
  if (status != SQLITE_OK) fail("opening the file");
  run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
}

void File::run(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail("making the tables");
  }
}

void File::close() {
  run("COMMIT");
  if (sqlite3_close(file_.get()) != SQLITE_OK) fail("closing the file");
  (void)file_.release();
}

std::string one_text(const std::string& path, const char* query) {
  sqlite3* file = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::string text;
  if (sqlite3_open_v2(path.c_str(), &file, SQLITE_OPEN_READONLY, "unix-none") == SQLITE_OK &&
      sqlite3_prepare_v2(file, query, -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    const auto* value = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    if (value != nullptr) text = value;
  }
  sqlite3_finalize(statement);
  sqlite3_close(file);
  return text;
}

Insert::Insert(File& file, const std::string& sql) : file_(file) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(file.handle(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    file.fail("preparing a table");
  }
  statement_.reset(statement);
}

void Insert::bind(int column, std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), column, value) != SQLITE_OK) file_.fail("a number");
}

void Insert::bind(int column, double value) {
  if (sqlite3_bind_double(statement_.get(), column, value) != SQLITE_OK) file_.fail("a number");
}

void Insert::bind(int column, std::string_view value) {
  if (sqlite3_bind_text64(statement_.get(), column, value.data(), value.size(), SQLITE_STATIC,
                          SQLITE_UTF8) != SQLITE_OK) {
    file_.fail("a text");
  }
}

void Insert::step() {
  if (sqlite3_step(statement_.get()) != SQLITE_DONE) file_.fail("writing a row");
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

}  // namespace uctrace::sqlite
