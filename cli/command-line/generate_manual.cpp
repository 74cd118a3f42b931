// Run by the build: writes the manual pages and the completion scripts into a folder.
//     generate_manual FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cli/command-line/manual.hpp"

int main(int argc, char** argv) {
  using namespace uctrace::cli;
  if (argc != 2) {
    std::cerr << "usage: generate_manual FOLDER\n";
    return 1;
  }
  const std::filesystem::path folder = argv[1];
  bool good = true;
  const auto write = [&](const std::string& name, const std::string& text) {
    good = (std::ofstream(folder / name, std::ios::binary) << text).flush() && good;
  };
  const Manual manual = make_manual();
  write("uctrace.1", man_page(manual));
  for (const VerbEntry& verb : manual.verbs) {
    write("uctrace-" + verb.name + ".1", man_page(manual, verb));
  }
  write("uctrace", bash_completion(manual));
  write("_uctrace", zsh_completion(manual));
  write("uctrace.fish", fish_completion(manual));
  return good ? 0 : 1;
}
