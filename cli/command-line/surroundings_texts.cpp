// The manual's texts on things shared by all verbs: the environment and the files of a folder.
#include "cli/command-line/manual.hpp"

namespace uctrace::cli {

std::vector<Definition> environment_texts() {
  return {
      {"XDG_CACHE_HOME",
       "where uctrace keeps the merged runs of other users' data, in its folder uctrace; ~/.cache "
       "if it is not set"},
      {"NO_COLOR", "if it is set to anything, output is never coloured"},
      {"CLICOLOR_FORCE",
       "if it is set to anything but 0, and NO_COLOR is not set, output is coloured even if it is "
       "not a terminal"},
      {"TMPDIR",
       "where record keeps the counters of processes that cannot write into DIR, and where check "
       "makes its trial; also where record puts a link to a library with a space or colon in its "
       "path, if DIR cannot hold the link; /tmp if it is not set"},
      {"UCTRACE_DRAIN",
       "if it is 1, uctrace writes logs on every file system as on a network file system"},
      {"UCTRACE_UNWINDER", "if it is libgcc, --stacks does without libunwind"},
      {"UCTRACE_GPU_HISTORY", "the library to load for --gpu-history, in place of uctrace's own"},
      {"UCTRACE_START_ON, UCTRACE_STOP_ON",
       "what --start-on and --stop-on say, with commas between them"},
      {"UCTRACE_MAX_LOG", "what --max-log says, in bytes"},
      {"UCTRACE_NEVER_DROP", "if it is 1, the same as --never-drop"},
      {"UCTRACE_HELPERS", "what --helpers says"},
      {"UCTRACE_POLLS", "if it is 1, the same as --polls"},
      {"UCTRACE_COUNTERS", "only: the same as --counters; too: the same as --counters --trace"},
      {"UCTRACE_NO_HELPER", "if it is 1, the same as --no-helper"},
      {"UCTRACE_LAYERS", "what --layers says: uct, ucp, mpi, library, with commas between them"},
      {"UCTRACE_CLOCK",
       "if it is off, MPI jobs do not measure the clocks of their hosts against each other; if it "
       "is on, they do so even if record cannot know that all their ranks are recorded"},
      {"UCTRACE_DIR",
       "where a program records if you start it with LD_PRELOAD set by hand; record sets both"},
      {"LD_PRELOAD", "record puts its library in front of what the user has there"},
      {"SLURM_EXPORT_ENV, HYDRA_ENV, OMPI_MCA_mca_base_env_list",
       "what launchers keep back or pass on; record takes them into account"},
      {"UCX_*, OMPI_MCA_*", "read by UCX and Open MPI; check takes them into account"}};
}

std::vector<Definition> file_texts() {
  return {{"DIR/*.ulog", "the logs, one for each process"},
          {"DIR/*.counters", "with --counters, who sent how much to whom, one for each process"},
          {"DIR/*.topology.xml", "the topology of the devices of each node with GPUs (hwloc)"},
          {"DIR/run.h5", "the merged run (HDF5)"},
          {"DIR/profile.db", "its profile by communicators (SQLite)"},
          {"DIR/run.json", "how the job was started and how it ended"},
          {"DIR/report.html", "the page"},
          {"DIR/uctrace.folder", "says that record made the folder, and may rename it"},
          {"DIR/*.lease", "one for each record that waits for its job, as long as it waits"},
          {"DIR.old.N", "the data of older runs in DIR; the highest number is the newest"}};
}

}  // namespace uctrace::cli
