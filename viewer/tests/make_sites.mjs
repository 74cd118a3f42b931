// Invents what lines of a program cost, and who came late to which of them.

/** One line for each rank, with names that are markup elsewhere. */
export function makeSites(ranks) {
  const each = Array.from({ length: ranks }, (_, rank) => rank);
  const delays = each.slice(0, -1).map((process) => ({
    ...{ process, mpi: 'MPI_Isend', site: `halo (heat.c:${10 + process})`, waits: 4 },
    ...{ direct_ns: 9_000_000 - process, passed_on_ns: 1_000_000 },
  }));
  return {
    call_sites: {
      rows: each.map((rank) => ({
        ...{ site: rank === 0 ? 'step<int> (heat.cpp:7)' : `halo (heat.c:${10 + rank})`, mpi: 'MPI_Waitall', calls: 40 + rank },
        ...{ ns: 80_000_000 - rank, waiting_ns: 50_000_000 - rank, ranks },
      })),
      left_out: 3,
    },
    delays: {
      rows: delays,
      left_out: 0,
      ns: delays.reduce((sum, { direct_ns, passed_on_ns }) => sum + direct_ns + passed_on_ns, 0),
    },
  };
}
