// The call stacks of a process: a line of the program for each function that it calls, behind which
// are the libraries, in front of which is main().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "event-log/format/kinds.hpp"
#include "tests/tracegen/shape.hpp"

namespace uctrace::tracegen {

class Lane;

class CallStacks {
 public:
  CallStacks(const Shape& shape, std::int32_t rank);

  // The code that stacks lead through.
  void define_modules(Lane& lane, std::int64_t at_ns) const;
  // The return address of an MPI call; 0: it is in the stacks, or unknown.
  std::uint64_t caller(std::uint16_t mpi_function) const;
  // Ids of stacks, defined by the lane that takes one first. 0: none is taken.
  std::uint32_t of_mpi_call(Lane& lane, std::uint16_t mpi_function, std::int64_t at_ns);
  std::uint32_t of_operation(Lane& lane, log::UcpFunction function, std::int64_t at_ns);
  std::uint32_t of_transfer(Lane& lane, log::UctOp op, std::int64_t at_ns);

  // As reports name the line of the program.
  static std::string site_of_mpi_call(std::uint16_t mpi_function);
  static std::string site_of_operation(log::UcpFunction function);

 private:
  std::uint64_t in_program(std::uint64_t offset) const { return program_ + offset + 1; }
  std::uint32_t take(Lane& lane, std::vector<std::uint64_t> frames, std::int64_t at_ns);

  Stacks kept_;
  bool mpich_;
  std::uint64_t program_;  // where its code lies
  std::map<std::vector<std::uint64_t>, std::uint32_t> ids_;
};

}  // namespace uctrace::tracegen
