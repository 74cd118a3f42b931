// The kinds of communicators that not every MPI can make, and MPI_COMM_SELF: a message on each. Names
// are counted as in communicators.c. With Open MPI 4 those that connect two sides (ports, sockets),
// which MPICH does not support over UCX; with MPI 4 those made from groups.
//
//     communicators_all [TRUTH-PREFIX]

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "numbered.h"

static void talk_to_self(void) {
  unsigned char sent[3000], got[3000] = {0};
  fill(sent, sizeof sent, 'S');
  MPI_Sendrecv(sent, sizeof sent, MPI_BYTE, 0, 7, got, sizeof got, MPI_BYTE, 0, 7, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  if (!holds(got, sizeof got, 'S')) fail("MPI_COMM_SELF: wrong contents");
  write_truth((struct sent){.src = world_rank,
                            .dst = world_rank,
                            .bytes = sizeof sent,
                            .tag = 7,
                            .function = "MPI_Sendrecv",
                            .comm = "MPI_COMM_SELF"});
}

#if MPI_VERSION >= 4

static void talk_and_free(MPI_Comm comm, char letter) {
  talk_on(comm, letter);
  MPI_Comm_free(&comm);
}

static void make_from_groups(MPI_Comm half) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Group world, own, other;
  MPI_Comm_idup_with_info(half, MPI_INFO_NULL, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  talk_and_free(comm, 'o');
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int round = 0; round < 2; ++round) {
    MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    talk_and_free(comm, 'f');
  }
  MPI_Comm_group(half, &own);
  MPI_Group_difference(world, own, &other);
  MPI_Intercomm_create_from_groups(own, 0, other, 0, "both", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &comm);
  talk_and_free(comm, 'F');
  MPI_Group_free(&world);
  MPI_Group_free(&own);
  MPI_Group_free(&other);
}

static void meet_others(MPI_Comm half) { make_from_groups(half); }

#else

// The odd ranks connect to the even ones.
static void meet_at_port(MPI_Comm half) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm between;
  if (world_rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (world_rank % 2 == 0) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &between);
  } else {
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &between);
  }
  talk_on(between, 'n');
  MPI_Comm_disconnect(&between);
  if (world_rank == 0) MPI_Close_port(port);
}

// The end of a connection between the first two ranks; -1 on the others.
static int connected_socket(void) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  struct sockaddr* const name = (struct sockaddr*)&address;
  int end = world_rank < 2 ? socket(AF_INET, SOCK_STREAM, 0) : -1;
  if (world_rank == 0) {
    if (bind(end, name, length) != 0 || listen(end, 1) != 0) fail("no socket to listen on");
    getsockname(end, name, &length);
  }
  MPI_Bcast(&address.sin_port, sizeof address.sin_port, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (world_rank == 0) {
    const int accepted = accept(end, NULL, NULL);
    close(end);
    end = accepted;
  } else if (world_rank == 1 && connect(end, name, length) != 0) {
    fail("no connection");
  }
  return end;
}

static void meet_others(MPI_Comm half) {
  MPI_Comm between;
  meet_at_port(half);
  const int end = connected_socket();
  if (end < 0) return;
  MPI_Comm_join(end, &between);
  close(end);
  talk_on(between, 'k');
  MPI_Comm_disconnect(&between);
}

#endif

int main(int argc, char** argv) {
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  open_truth(argc > 1 ? argv[1] : NULL, world_rank);
  talk_to_self();
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  talk_on(half, 's');
  meet_others(half);
  MPI_Comm_free(&half);
  flush_truth();
  MPI_Finalize();
  close_truth();
  return 0;
}
