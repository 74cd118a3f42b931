// usage: ucc_collectives PLAN FILES
// Collective operations of UCC over teams of all and of half of the ranks, with MPI as the way to exchange
// addresses. Each rank writes what it calls to FILES.RANK, a line each:
//   function operation bytes team_size ep root line
// PLAN: each (operations one by one), several (in flight at once), errors (as each, and a call that fails), window
// (recording is on for some operations alone; the others are not listed).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <ucc/api/ucc.h>

#define CHECK(call)                                                        \
  do {                                                                     \
    const ucc_status_t status_ = (call);                                   \
    if (status_ < 0) {                                                     \
      fprintf(stderr, "%s: %s\n", #call, ucc_status_string(status_));      \
      MPI_Abort(MPI_COMM_WORLD, 1);                                        \
    }                                                                      \
  } while (0)

static int rank, size;
static FILE* calls;
static int is_listed = 1;  // what is called now
static ucc_context_h context;

typedef struct Team {
  ucc_team_h handle;
  MPI_Comm comm;
  int ep, size;
} Team;

static ucc_status_t exchange(void* mine, void* all, size_t bytes, void* comm, void** request) {
  *request = mine;  // any address but NULL
  return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *(MPI_Comm*)comm) ==
                 MPI_SUCCESS
             ? UCC_OK
             : UCC_ERR_NO_MESSAGE;
}
static ucc_status_t exchanged(void* request) {
  (void)request;
  return UCC_OK;
}

static ucc_oob_coll_t over(MPI_Comm* comm) {
  int ep, count;
  MPI_Comm_rank(*comm, &ep);
  MPI_Comm_size(*comm, &count);
  return (ucc_oob_coll_t){exchange, exchanged, exchanged, comm, (uint32_t)count, (uint32_t)ep};
}

static void make_team(Team* team, MPI_Comm comm) {
  team->comm = comm;
  MPI_Comm_rank(comm, &team->ep);
  MPI_Comm_size(comm, &team->size);
  ucc_team_params_t params;
  memset(&params, 0, sizeof params);
  params.mask = UCC_TEAM_PARAM_FIELD_EP | UCC_TEAM_PARAM_FIELD_EP_RANGE | UCC_TEAM_PARAM_FIELD_OOB;
  params.ep = (uint64_t)team->ep;
  params.ep_range = UCC_COLLECTIVE_EP_RANGE_CONTIG;
  params.oob = over(&team->comm);
  CHECK(ucc_team_create_post(&context, 1, &params, &team->handle));
  ucc_status_t status;
  while ((status = ucc_team_create_test(team->handle)) == UCC_INPROGRESS) CHECK(ucc_context_progress(context));
  CHECK(status);
}

static void tell(const char* function, const char* operation, size_t bytes, const Team* team, int root, int line) {
  if (!is_listed) return;
  fprintf(calls, "%s %s %zd %d %d %d %d\n", function, operation, (ssize_t)bytes, team->size, team->ep, root, line);
}

typedef struct Operation {
  const char* name;
  size_t bytes;  // what this process gives
  const Team* team;
  int root;  // -1: none
  ucc_coll_req_h request;
} Operation;

// One place for each call, so that its line is known.
static void begin(Operation* it, ucc_coll_args_t* args) {
  CHECK(ucc_collective_init(args, &it->request, it->team->handle));
  tell("ucc_collective_init", it->name, 0, it->team, it->root, __LINE__ - 1);
}
static void post(const Operation* it) {
  CHECK(ucc_collective_post(it->request));
  tell("ucc_collective_post", it->name, it->bytes, it->team, it->root, __LINE__ - 1);
}
static void wait_for(const Operation* it) {
  while (ucc_collective_test(it->request) == UCC_INPROGRESS) CHECK(ucc_context_progress(context));
  CHECK(ucc_collective_test(it->request));
}
static void end(const Operation* it) {
  CHECK(ucc_collective_finalize(it->request));
  tell("ucc_collective_finalize", it->name, 0, it->team, it->root, __LINE__ - 1);
}
static void run(Operation* it, ucc_coll_args_t* args) {
  begin(it, args);
  post(it);
  wait_for(it);
  end(it);
}

static ucc_coll_args_t arguments(ucc_coll_type_t type) {
  ucc_coll_args_t args;
  memset(&args, 0, sizeof args);
  args.coll_type = type;
  args.op = UCC_OP_SUM;
  return args;
}
static ucc_coll_buffer_info_t buffer(void* data, size_t count, ucc_datatype_t type) {
  return (ucc_coll_buffer_info_t){data, count, type, UCC_MEMORY_TYPE_HOST};
}

static void require(int condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void allreduce(const Team* team, size_t count, int in_place) {
  double* mine = malloc(count * sizeof *mine);
  double* sum = in_place ? mine : malloc(count * sizeof *sum);
  for (size_t i = 0; i < count; ++i) mine[i] = team->ep + (double)i;
  ucc_coll_args_t args = arguments(UCC_COLL_TYPE_ALLREDUCE);
  args.src.info = buffer(mine, count, UCC_DT_FLOAT64);
  args.dst.info = buffer(sum, count, UCC_DT_FLOAT64);
  if (in_place) {
    args.mask = UCC_COLL_ARGS_FIELD_FLAGS;
    args.flags = UCC_COLL_ARGS_FLAG_IN_PLACE;
    memset(&args.src, 0, sizeof args.src);
  }
  Operation it = {"allreduce", count * sizeof *sum, team, -1, NULL};
  run(&it, &args);
  const double eps = team->size * (team->size - 1) / 2.0;
  require(sum[count - 1] == eps + team->size * (double)(count - 1), "allreduce");
  if (!in_place) free(sum);
  free(mine);
}

static void bcast(const Team* team, size_t count, int root) {
  int32_t* data = calloc(count, sizeof *data);
  if (team->ep == root) data[count - 1] = 77;
  ucc_coll_args_t args = arguments(UCC_COLL_TYPE_BCAST);
  args.src.info = buffer(data, count, UCC_DT_INT32);
  args.root = (uint64_t)root;
  Operation it = {"bcast", team->ep == root ? count * sizeof *data : 0, team, root, NULL};
  run(&it, &args);
  require(data[count - 1] == 77, "bcast");
  free(data);
}

static void barrier(const Team* team) {
  ucc_coll_args_t args = arguments(UCC_COLL_TYPE_BARRIER);
  Operation it = {"barrier", 0, team, -1, NULL};
  run(&it, &args);
}

static void alltoall(const Team* team, size_t each) {
  const size_t count = each * (size_t)team->size;
  int32_t *mine = malloc(count * sizeof *mine), *got = malloc(count * sizeof *got);
  for (size_t i = 0; i < count; ++i) mine[i] = team->ep;
  ucc_coll_args_t args = arguments(UCC_COLL_TYPE_ALLTOALL);
  args.src.info = buffer(mine, count, UCC_DT_INT32);
  args.dst.info = buffer(got, count, UCC_DT_INT32);
  Operation it = {"alltoall", count * sizeof *mine, team, -1, NULL};
  run(&it, &args);
  require(got[count - 1] == team->size - 1, "alltoall");
  free(mine);
  free(got);
}

// Process i gives i + 1 elements.
static void allgatherv(const Team* team, int wide) {
  const size_t mine_count = (size_t)team->ep + 1;
  const size_t total = (size_t)team->size * ((size_t)team->size + 1) / 2;
  int32_t *mine = malloc(mine_count * sizeof *mine), *all = malloc(total * sizeof *all);
  uint64_t *counts = malloc(sizeof *counts * (size_t)team->size), *places = malloc(sizeof *places * (size_t)team->size);
  for (size_t i = 0; i < mine_count; ++i) mine[i] = team->ep;
  uint64_t place = 0;
  for (int i = 0; i < team->size; ++i) {
    const uint64_t count = (uint64_t)i + 1;
    if (wide) {
      counts[i] = count;
      places[i] = place;
    } else {
      ((uint32_t*)counts)[i] = (uint32_t)count;
      ((uint32_t*)places)[i] = (uint32_t)place;
    }
    place += count;
  }
  ucc_coll_args_t args = arguments(UCC_COLL_TYPE_ALLGATHERV);
  if (wide) {
    args.mask = UCC_COLL_ARGS_FIELD_FLAGS;
    args.flags = UCC_COLL_ARGS_FLAG_COUNT_64BIT | UCC_COLL_ARGS_FLAG_DISPLACEMENTS_64BIT;
  }
  args.src.info = buffer(mine, mine_count, UCC_DT_INT32);
  args.dst.info_v = (ucc_coll_buffer_info_v_t){all, counts, places, UCC_DT_INT32, UCC_MEMORY_TYPE_HOST};
  Operation it = {"allgatherv", mine_count * sizeof *mine, team, -1, NULL};
  run(&it, &args);
  require(all[total - 1] == team->size - 1, "allgatherv");
  free(mine);
  free(all);
  free(counts);
  free(places);
}

// One request, posted three times.
static void persistent(const Team* team) {
  double mine[64], sum[64];
  for (int i = 0; i < 64; ++i) mine[i] = 1;
  ucc_coll_args_t args = arguments(UCC_COLL_TYPE_ALLREDUCE);
  args.mask = UCC_COLL_ARGS_FIELD_FLAGS;
  args.flags = UCC_COLL_ARGS_FLAG_PERSISTENT;
  args.src.info = buffer(mine, 64, UCC_DT_FLOAT64);
  args.dst.info = buffer(sum, 64, UCC_DT_FLOAT64);
  Operation it = {"allreduce", sizeof mine, team, -1, NULL};
  begin(&it, &args);
  for (int i = 0; i < 3; ++i) {
    post(&it);
    wait_for(&it);
    require(sum[63] == team->size, "persistent allreduce");
  }
  end(&it);
}

// Posted one after the other, ended in the reverse order.
static void several(const Team* team) {
  enum { kSeveral = 4 };
  Operation it[kSeveral];
  static double mine[kSeveral][128], sum[kSeveral][128];
  for (int k = 0; k < kSeveral; ++k) {
    for (int i = 0; i < 128; ++i) mine[k][i] = k;
    ucc_coll_args_t args = arguments(UCC_COLL_TYPE_ALLREDUCE);
    args.src.info = buffer(mine[k], 128, UCC_DT_FLOAT64);
    args.dst.info = buffer(sum[k], 128, UCC_DT_FLOAT64);
    it[k] = (Operation){"allreduce", sizeof mine[k], team, -1, NULL};
    begin(&it[k], &args);
  }
  for (int k = 0; k < kSeveral; ++k) post(&it[k]);
  for (int k = kSeveral - 1; k >= 0; --k) wait_for(&it[k]);
  for (int k = kSeveral - 1; k >= 0; --k) {
    require(sum[k][127] == k * team->size, "one of several");
    end(&it[k]);
  }
}

// A request that was made before the window: uctrace knows nothing of it but its handle. The root of a broadcast is
// known by the team, which was made before, too.
static void in_a_window(const Team* all, const Team* part) {
  double mine[8] = {0}, sum[8];
  ucc_coll_args_t args = arguments(UCC_COLL_TYPE_ALLREDUCE);
  args.src.info = buffer(mine, 8, UCC_DT_FLOAT64);
  args.dst.info = buffer(sum, 8, UCC_DT_FLOAT64);
  Operation unknown = {"-", (size_t)-1, all, -1, NULL};
  is_listed = 0;
  begin(&unknown, &args);
  barrier(all);
  MPI_Pcontrol(1);
  is_listed = 1;
  bcast(all, 1000, 1 % size);
  allgatherv(part, 0);
  post(&unknown);
  wait_for(&unknown);
  MPI_Pcontrol(0);
  is_listed = 0;
  end(&unknown);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3) {
    fprintf(stderr, "usage: ucc_collectives each|several|errors|window FILES\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const char* const plan = argv[1];
  char file[4096];
  snprintf(file, sizeof file, "%s.%d", argv[2], rank);
  calls = fopen(file, "w");
  require(calls != NULL, "the file of calls");

  ucc_lib_params_t lib_params;
  memset(&lib_params, 0, sizeof lib_params);
  lib_params.mask = UCC_LIB_PARAM_FIELD_THREAD_MODE;
  lib_params.thread_mode = UCC_THREAD_SINGLE;
  ucc_lib_config_h lib_config;
  ucc_lib_h library;
  CHECK(ucc_lib_config_read(NULL, NULL, &lib_config));
  CHECK(ucc_init(&lib_params, lib_config, &library));
  ucc_lib_config_release(lib_config);

  MPI_Comm world = MPI_COMM_WORLD, half;
  ucc_context_params_t params;
  memset(&params, 0, sizeof params);
  params.mask = UCC_CONTEXT_PARAM_FIELD_OOB;
  params.oob = over(&world);
  ucc_context_config_h config;
  CHECK(ucc_context_config_read(library, NULL, &config));
  CHECK(ucc_context_create(library, &params, config, &context));
  ucc_context_config_release(config);

  Team all, part;
  make_team(&all, world);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  make_team(&part, half);

  if (strcmp(plan, "several") == 0) {
    several(&all);
    persistent(&part);
  } else if (strcmp(plan, "window") == 0) {
    in_a_window(&all, &part);
  } else {
    barrier(&all);
    allreduce(&all, 1, 0);
    allreduce(&all, 10000, 0);
    allreduce(&part, 100, 1);
    bcast(&all, 1000, 1 % size);
    bcast(&part, 10, 0);
    alltoall(&all, 16);
    allgatherv(&all, 0);
    allgatherv(&part, 1);
    persistent(&all);
  }
  if (strcmp(plan, "errors") == 0) {
    ucc_coll_args_t args = arguments((ucc_coll_type_t)0);
    ucc_coll_req_h request = NULL;
    if (ucc_collective_init(&args, &request, all.handle) >= 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }

  CHECK(ucc_team_destroy(part.handle));
  CHECK(ucc_team_destroy(all.handle));
  MPI_Comm_free(&half);
  CHECK(ucc_context_destroy(context));
  CHECK(ucc_finalize(library));
  MPI_Finalize();
  return fclose(calls);
}
