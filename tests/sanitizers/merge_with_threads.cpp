// Merges the logs in a folder by one thread and by several, stores each run, and reads it again.
// The stores are the same to the byte, also that of the run that was read.
//
// usage: merge_with_threads LOGS SCRATCH
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "log-merger/merge.hpp"
#include "log-merger/store/store.hpp"

namespace {

using namespace uctrace;
namespace fs = std::filesystem;

constexpr std::size_t kSeveral = 4;  // also where there are fewer CPUs

MergeOptions by_threads(std::size_t threads) {
  MergeOptions options;
  options.threads = threads;
  return options;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string stored(const Run& run, const fs::path& path, std::size_t threads) {
  save_store(run, path, {}, Workers(threads));
  return bytes_of(path);
}

}  // namespace

int main(int, char** argv) {
  const fs::path logs = argv[1], scratch = argv[2];
  const std::string by_one = stored(merge_folder(logs, by_threads(1)), scratch / "one.h5", 1);
  const std::string by_several =
      stored(merge_folder(logs, by_threads(kSeveral)), scratch / "several.h5", kSeveral);
  if (by_one != by_several) {
    std::cerr << "several threads made another store than one\n";
    return 1;
  }
  const Run read = load_store(scratch / "several.h5");
  if (read.messages.empty() || stored(read, scratch / "again.h5", kSeveral) != by_one) {
    std::cerr << "what was read is not what was stored\n";
    return 1;
  }
}
