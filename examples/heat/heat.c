/* Heat flows through a plate that is cut into one strip of rows for each rank. Neighbours exchange their outermost rows in
 * each step; every tenth step all agree on the largest change.
 *
 * A burner heats a part of the plate. Rows near it need smaller steps, so the ranks that hold them compute longer: a load
 * imbalance as real programs have it. docs/tutorial-applications.md finds it with uctrace. */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTagUp = 1, kTagDown = 2, kStepsBetweenChecks = 10 };

typedef struct {
  int columns, rows, steps, substeps, burner; /* burner: the rank that holds it */
} Options;

typedef struct {
  int columns, rows;
  double *now, *next; /* (rows + 2) x columns, with a row of each neighbour */
} Strip;

static void usage(FILE* to) {
  fputs(
      "usage: heat [--columns N] [--rows N] [--steps N] [--substeps N] [--burner RANK]\n\n"
      "  --columns N   of the plate (default 4096)\n"
      "  --rows N      of each rank's strip (default 64)\n"
      "  --steps N     (default 200)\n"
      "  --substeps N  that rows near the burner need in each step (default 4)\n"
      "  --burner RANK holds the burner (default: the rank in the middle)\n",
      to);
}

/* Returns 0, or the exit status plus 1 if the program has to end. One rank prints the usage. */
static int parse(int argc, char** argv, int rank, int ranks, Options* options) {
  *options = (Options){.columns = 4096, .rows = 64, .steps = 200, .substeps = 4, .burner = ranks / 2};
  const struct {
    const char* name;
    int *value, least;
  } known[] = {{"--columns", &options->columns, 3},
               {"--rows", &options->rows, 1},
               {"--steps", &options->steps, 1},
               {"--substeps", &options->substeps, 1},
               {"--burner", &options->burner, 0}};
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0) {
      if (rank == 0) usage(stdout);
      return 1 + 0;
    }
    size_t k = 0;
    while (k < sizeof known / sizeof *known && strcmp(argv[i], known[k].name) != 0) ++k;
    char* end = NULL;
    const long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : -1;
    if (k == sizeof known / sizeof *known || end == NULL || *end != '\0' || value < known[k].least || value > 1 << 20) {
      if (rank == 0) usage(stderr);
      return 1 + 2;
    }
    *known[k].value = (int)value;
  }
  return 0;
}

static double* row(const Strip* strip, double* of, int i) { return of + (size_t)i * (size_t)strip->columns; }

static void exchange(Strip* strip, int up, int down) {
  MPI_Request requests[4];
  const int n = strip->columns;
  MPI_Irecv(row(strip, strip->now, 0), n, MPI_DOUBLE, up, kTagDown, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(row(strip, strip->now, strip->rows + 1), n, MPI_DOUBLE, down, kTagUp, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(row(strip, strip->now, 1), n, MPI_DOUBLE, up, kTagUp, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(row(strip, strip->now, strip->rows), n, MPI_DOUBLE, down, kTagDown, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* One step of the strip; returns the largest change. */
static double relax(Strip* strip) {
  double change = 0;
  for (int i = 1; i <= strip->rows; ++i) {
    const double *above = row(strip, strip->now, i - 1), *here = above + strip->columns, *below = here + strip->columns;
    double* to = row(strip, strip->next, i);
    to[0] = here[0];
    to[strip->columns - 1] = here[strip->columns - 1];
    for (int j = 1; j < strip->columns - 1; ++j) {
      to[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
      change = fmax(change, fabs(to[j] - here[j]));
    }
  }
  /* The rows of the neighbours stay until they are exchanged again. */
  const size_t bytes = (size_t)strip->columns * sizeof(double);
  memcpy(row(strip, strip->next, 0), row(strip, strip->now, 0), bytes);
  memcpy(row(strip, strip->next, strip->rows + 1), row(strip, strip->now, strip->rows + 1), bytes);
  double* const swapped = strip->now;
  strip->now = strip->next;
  strip->next = swapped;
  return change;
}

static double run(Strip* strip, const Options* options, int rank, int ranks) {
  const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const int substeps = rank == options->burner ? options->substeps : 1;
  double change = 0;
  for (int step = 1; step <= options->steps; ++step) {
    exchange(strip, up, down);
    double own = 0;
    for (int i = 0; i < substeps; ++i) own = relax(strip);
    if (step % kStepsBetweenChecks == 0 || step == options->steps)
      MPI_Allreduce(&own, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  return change;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options;
  const int over = parse(argc, argv, rank, ranks, &options);
  if (over != 0) {
    MPI_Finalize();
    return over - 1;
  }
  Strip strip = {.columns = options.columns, .rows = options.rows};
  const size_t cells = (size_t)(strip.rows + 2) * (size_t)strip.columns;
  strip.now = calloc(cells, sizeof(double));
  strip.next = calloc(cells, sizeof(double));
  if (strip.now == NULL || strip.next == NULL) {
    fprintf(stderr, "heat: no memory for %zu cells\n", cells);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == options.burner)
    for (int j = 1; j < strip.columns - 1; ++j) row(&strip, strip.now, strip.rows / 2 + 1)[j] = 100.0;
  const double begin = MPI_Wtime();
  const double change = run(&strip, &options, rank, ranks);
  if (rank == 0) {
    printf("largest change  %.3e\n", change);
    printf("time            %.3f s on %d ranks\n", MPI_Wtime() - begin, ranks);
  }
  free(strip.now);
  free(strip.next);
  MPI_Finalize();
  return 0;
}
