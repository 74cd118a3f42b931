#include "log-merger/folder/launcher_line.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "event-log/reader/input_file.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace {
namespace {

namespace fs = std::filesystem;

class Folder : public test::TemporaryFolder {
 public:
  std::string line_of(const char* json, const char* job) const {
    std::ofstream(*this / "run.json") << json;
    return merge::launcher_line(path(), job);
  }
};

TEST_CASE("the launcher's line is taken where run.json is of this job") {
  const Folder folder;
  constexpr const char* kRun =
      R"({"schema":1,"job":"ab","command":["mpirun","-np","4","./my app","it's",""]})";
  CHECK(folder.line_of(kRun, "ab") == R"(mpirun -np 4 './my app' 'it'\''s' '')");
  CHECK(folder.line_of(kRun, "ab.pmix-1") == folder.line_of(kRun, "ab"));
  CHECK(folder.line_of(kRun, "abc").empty());
  CHECK(folder.line_of(kRun, "").empty());
}

TEST_CASE("a run.json that cannot be used is as none") {
  const Folder folder;
  for (const char* json : {"", "{", "[]", "null", R"({"job":"ab"})", R"({"job":1,"command":["a"]})",
                           R"({"job":"ab","command":"mpirun"})", R"({"job":"ab","command":[1]})"}) {
    CAPTURE(json);
    CHECK(folder.line_of(json, "ab").empty());
  }
  fs::remove(folder / "run.json");
  CHECK(merge::launcher_line(folder.path(), "ab").empty());
}

TEST_CASE("a pipe as run.json is not waited for") {
  const Folder folder;
  REQUIRE(mkfifo((folder / "run.json").c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(merge::launcher_line(folder.path(), "ab"),
                       doctest::Contains("it is not a regular file"), log::FileError);
}

}  // namespace
}  // namespace uctrace
