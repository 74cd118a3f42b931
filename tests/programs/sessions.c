// A program without MPI_Init: sums and messages on communicators of sessions, two of which are open
// at once and end in the order in which they began. What is expected of each communicator is
// written as truth. (MPICH 4.0.2 crashes in a session that begins when all others have ended.) Any
// number of ranks.
//
//     sessions TRUTH-PREFIX

#include "common.h"

static const char* truth_prefix;
static int rank, size;

static MPI_Session opened(void) {
  MPI_Session session;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
    fprintf(stderr, "no session\n");
    exit(1);
  }
  return session;
}

static MPI_Comm communicator(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, set, &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  return comm;
}

// `number`: of the communicators that rank 0 got.
static void use(MPI_Comm comm, int number, int messages) {
  int sum = 0, got = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (truth_file == NULL) open_truth(truth_prefix, rank);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < messages; ++i) {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, i, &got, 1, MPI_INT,
                 (rank + size - 1) % size, i, comm, MPI_STATUS_IGNORE);
  }
  if (sum != size) exit(2);
  if (truth_file == NULL) exit(3);
  fprintf(truth_file, "{\"name\":\"f0.%d\",\"size\":%d,\"messages\":%d}\n", number, size, messages);
}

int main(int argc, char** argv) {
  truth_prefix = argc > 1 ? argv[1] : NULL;
  MPI_Session first = opened(), second = opened();
  MPI_Comm one = communicator(first, "mpi://WORLD", "one");
  MPI_Comm other = communicator(second, "mpi://WORLD", "other");
  use(one, 1, 3);
  use(other, 2, 5);
  MPI_Comm_free(&one);
  MPI_Session_finalize(&first);
  use(other, 2, 2);
  MPI_Comm late = communicator(second, "mpi://WORLD", "late");
  use(late, 3, 4);
  MPI_Comm_free(&late);
  MPI_Comm_free(&other);
  MPI_Session_finalize(&second);
  close_truth();
  if (rank == 0) printf("sessions: done\n");
  return 0;
}
