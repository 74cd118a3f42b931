#include "log-merger/folder/new_file.hpp"

#include <doctest/doctest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "tests/unit/temporary_folder.hpp"

namespace uctrace {
namespace {

namespace fs = std::filesystem;

using Folder = test::TemporaryFolder;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const fs::path& path, const char* text) { std::ofstream(path) << text; }

// The number of times that a lock is refused, as if another process held it briefly.
int refused_locks = 0;

}  // namespace
}  // namespace uctrace

// In place of the C library's.
extern "C" int flock(int fd, int operation) {
  if (uctrace::refused_locks > 0) {
    --uctrace::refused_locks;
    errno = EWOULDBLOCK;
    return -1;
  }
  return static_cast<int>(syscall(SYS_flock, fd, operation));
}

namespace uctrace {

TEST_CASE("a file that others may take for a leftover is not used") {
  const Folder folder;
  refused_locks = 2;
  NewFile file(folder / "a");
  CHECK(refused_locks == 0);
  CHECK(folder.files() == 1);
  remove_leftovers(folder / "a");
  file.write("new");
  file.publish();
  CHECK(text_of(folder / "a") == "new");
}

TEST_CASE("a new file is seen when it is whole, and leaves nothing if it never is") {
  const Folder folder;
  write_text(folder / "a", "old");
  {
    NewFile file(folder / "a");
    file.write("new");
    CHECK(text_of(file.path_to_open()) == "new");
    CHECK(text_of(folder / "a") == "old");
  }
  CHECK(folder.files() == 1);
  {
    NewFile file(folder / "a"), beside(folder / "a");
    CHECK(file.path() != beside.path());
    file.write("new");
    file.publish();
  }
  CHECK(text_of(folder / "a") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("a link is replaced and not written through") {
  const Folder folder;
  write_text(folder / "own", "own");
  fs::create_symlink("own", folder / "a");
  NewFile file(folder / "a");
  file.write("new");
  file.publish();
  CHECK(text_of(folder / "own") == "own");
  CHECK(text_of(folder / "a") == "new");
  CHECK_FALSE(fs::is_symlink(folder / "a"));
}

TEST_CASE("what is no place for a file is refused, also when it comes later") {
  const Folder folder;
  fs::create_directory(folder / "folder");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_AS(NewFile(folder / "folder"), std::system_error);
  CHECK_THROWS_AS(NewFile(folder / "pipe"), std::system_error);
  CHECK_THROWS_AS(NewFile(folder / "none" / "a"), std::system_error);
  NewFile file(folder / "later");
  REQUIRE(mkfifo((folder / "later").c_str(), 0600) == 0);
  CHECK_THROWS_AS(file.publish(), std::system_error);
}

TEST_CASE("another file that was put in its place is not published") {
  const Folder folder;
  NewFile file(folder / "a");
  file.write("new");
  fs::remove(file.path());
  write_text(file.path(), "planted");
  CHECK_THROWS_AS(file.publish(), std::system_error);
  CHECK_FALSE(fs::exists(folder / "a"));
}

TEST_CASE("what killed processes left is removed, and nothing else") {
  const Folder folder;
  const char* leftover = "a.uctrace-new-abcdef123456";
  for (const char* name :
       {leftover, "a.uctrace-new-abcdef1234567", "a.uctrace-new-", "a.uctrace-new-yesterdays-x",
        "a.new-backup", "b.uctrace-new-abcdef123456", "a"}) {
    write_text(folder / name, "");
  }
  fs::create_directory(folder / "a.uctrace-new-folderfolder");
  fs::create_symlink("b.uctrace-new-abcdef123456", folder / "a.uctrace-new-linkedlinked");
  REQUIRE(mkfifo((folder / "a.uctrace-new-pipepipepipe").c_str(), 0600) == 0);
  const NewFile at_work(folder / "a");
  const std::size_t before = folder.files();
  remove_leftovers(folder / "a");
  CHECK_FALSE(fs::exists(folder / leftover));
  CHECK(fs::exists(at_work.path()));
  CHECK(folder.files() == before - 1);
}

TEST_CASE("a file that is replaced keeps its permissions") {
  const Folder folder;
  write_text(folder / "a", "old");
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
  NewFile file(folder / "a");
  file.write("new");
  file.publish();
  CHECK(fs::status(folder / "a").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

}  // namespace uctrace
