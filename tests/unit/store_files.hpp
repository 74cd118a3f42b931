// The file of a store: its bytes, and what is said where it cannot be read.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "event-log/reader/error.hpp"
#include "log-merger/store/store.hpp"

namespace uctrace {

inline std::string message_of_load(const std::filesystem::path& path) {
  try {
    load_store(path);
  } catch (const Error& error) {
    CHECK(error.problem().what == "cannot read the store " + path.string());
    CHECK_FALSE(error.problem().to_do.empty());
    return error.message();
  }
  return "no error";
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace uctrace
