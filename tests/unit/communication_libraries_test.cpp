#include "log-merger/stacks/communication_libraries.hpp"

#include <doctest/doctest.h>

namespace uctrace::merge {

TEST_CASE("libraries of MPI and UCX, their bindings and plug-ins") {
  for (const char* path : {"/usr/lib/libmpi.so.40",
                           "/usr/lib/libmpi.so",
                           "/opt/openmpi/lib/libopen-pal.so.80.0.1",
                           "libopen-rte.so.40",
                           "/usr/lib/libmpi_mpifh-gfortran.so.40",
                           "libmpi_usempif08.so.40",
                           "/usr/lib/openmpi/mca_pml_ucx.so",
                           "libmca_common_sm.so.40",
                           "libopen_mpi.so.80",
                           "libmpi_abi.so.1",
                           "libpmpi_abi.so.1",
                           "libmpifort_abi.so.1",
                           "libmpi_abi_openmpi.so.1",
                           "libmpi_abi_mpich.so.1.2.3",
                           "libmpich.so.12",
                           "libmpichfort.so.12",
                           "/opt/cray/lib/libmpi_gnu_123.so.12",
                           "libpmpi.so",
                           "libucp.so.0",
                           "/usr/lib/ucx/libuct_ib.so.0",
                           "libucs_signal.so.0",
                           "libucm_cuda.so",
                           "site-packages/ucx.libs/libucp-9d3bd8a1.so.0.0.0",
                           "/opt/private/lib/libucp-solver.so.0",
                           "libucp-solver_2-b.so.0.0.0",
                           "libucs-solver.so",
                           "/opt/private/lib/ucx/libuct_cma-solver.so.0",
                           "libmpi-9d3bd8a1.so.40",
                           "libfabric.so.1",
                           "libpsm2.so.2",
                           "/opt/lib/libuctrace.so"}) {
    CAPTURE(path);
    CHECK(is_communication_library(path));
  }
}

TEST_CASE("what belongs to the program, though its name begins alike") {
  for (const char* path : {"/opt/openmc/lib/libopenmc.so",
                           "libopenblas.so.0",
                           "libopenpmd.so",
                           "libopen-solver.so",
                           "libmpi_wrappers.so",
                           "libmpi-tools.so.1",
                           "libmpitools.so",
                           "libucpsolve.so",
                           "libuctools.so.2",
                           "libpsmile.so",
                           "libpsm.py",
                           "libmpi",
                           "mcast.so",
                           "libucp-.so.0",
                           "libucp-a.b.so.0",
                           "libucp-solver.soap",
                           "libmpi-solver.so.0",
                           "/opt/libmpi.so/app",
                           "/home/user/app",
                           "",
                           "/"}) {
    CAPTURE(path);
    CHECK_FALSE(is_communication_library(path));
  }
}

}  // namespace uctrace::merge
