// Why a log could not take records, and what helps.
#pragma once

#include <cstdint>

namespace uctrace::cli {

struct Obstacle {
  int error;
  const char* why;
  const char* to_do;
};

// Of an errno. What is not known here is told in the system's own words.
Obstacle obstacle_of(std::uint32_t error);

}  // namespace uctrace::cli
