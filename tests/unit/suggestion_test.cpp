#include "log-merger/model/suggestion.hpp"

#include <doctest/doctest.h>

using uctrace::did_you_mean;
using uctrace::edit_distance;
using uctrace::nearest_word;

TEST_CASE("suggestions: distances") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("record", "record") == 0);
  CHECK(edit_distance("recrod", "record") == 1);  // neighbours swapped
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("suggestions: the nearest word, in small or large letters, also from its beginning") {
  const std::vector<std::string> functions = {"MPI_Allgather", "MPI_Allreduce", "MPI_Send",
                                              "MPI_Sendrecv"};
  CHECK(nearest_word("MPI_Alreduce", functions) == "MPI_Allreduce");
  CHECK(nearest_word("mpi_send", functions) == "MPI_Send");
  CHECK(nearest_word("MPI_Sendr", functions) == "MPI_Send");  // nearer than the one it begins
  CHECK(nearest_word("cont", {"contenders", "mpi", "pairs"}) == "contenders");
  CHECK(nearest_word("zzzzzz", functions).empty());
  CHECK(nearest_word("", functions).empty());
  CHECK(nearest_word("x", {}).empty());
  CHECK(did_you_mean("par", {"contenders", "mpi", "pairs"}) == "did you mean 'pairs'?");
  CHECK(did_you_mean("quux", functions).empty());
}
