// Invents the data about the whole run: findings, the cost of lines of a program and of calls on communicators, and which
// ranks came late to which of them.

const finding = (rule, text, command) => ({ rule, finding: text, advice: 'set it for all', command, share: 0, doubts_records: false });

/** One that leads to the head of the page, one to the waits of a rank, one to the communicators, and one to nothing. */
export const kFindings = [
  finding('settings-differ', 'rank 1 has UCX_TLS=tcp<b>, all others none', 'uctrace info run --list settings'),
  finding('rank-makes-others-wait', 'Ranks waited 1 s for others, for rank 0', 'uctrace waits run --rank 0'),
  finding('job-without-ucx', 'The job made 12 MPI calls and used no UCX', 'uctrace info run --list layers'),
  finding('registration-is-long', 'Messages waited 1 s for registrations', 'uctrace report run --by registration'),
];

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
    communicators: makeCommunicators(ranks),
  };
}

/** The world, two with the same name, one between two halves without messages, and calls on no communicator. */
function makeCommunicators(ranks) {
  const one = (name, called, made_by, ns, more = {}) => ({
    ...{ name, called, made_by, parent: made_by && 'W0.0', size: ranks, remote_size: 0, shares_name: false },
    ...{ calls: 12 * ranks, ns, waiting_ns: Math.floor(ns / 4), ...more },
  });
  const rows = [
    one('W0.0', 'MPI_COMM_WORLD', null, 90_000_000),
    one('a0.1', 'cart 4x4', 'MPI_Cart_create', 70_000_000, { shares_name: true }),
    one('a1.1', 'cart 4x4', 'MPI_Cart_create', 20_000_000, { shares_name: true }),
    one('d0.2', 'dup of MPI_COMM_WORLD', 'MPI_Comm_dup', 10_000_000),
    one(null, null, null, 5_000_000, { size: 0 }),
    one('I0.3', null, 'MPI_Intercomm_create<b>', 0, { calls: 0, size: ranks >> 1, remote_size: (ranks + 1) >> 1 }),
  ];
  return { rows, left_out: 2, ns: rows.reduce((sum, { ns }) => sum + ns, 0) + 7_000_000 };
}
