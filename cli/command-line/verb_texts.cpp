// The manual's texts on each verb, beyond those of its options.
#include <map>

#include "cli/command-line/manual.hpp"

namespace uctrace::cli {
namespace {

const std::vector<Definition> kReaderStatus = {
    {"0", "done"}, {"125", "uctrace could not do it; the reason is on standard error"}};

const VerbText kOwnText = {
    .arguments = "",
    .description = {"For every message of an unmodified MPI or UCX job, uctrace shows which MPI "
                    "call and communicator asked for it, which UCP protocol and UCT transport "
                    "carried it over which device, when, and what it cost. It needs no privileges "
                    "and no rebuild, and the job behaves as without it.",
                    "DIR is the folder with the data of a run. The default is uctrace.data, and "
                    "inside a batch job of Slurm, PBS, LSF or Flux uctrace.data.JOBID. A verb that "
                    "reads a run merges its logs first if needed. It keeps the result in DIR; if "
                    "DIR is another user's, below ~/.cache/uctrace; or where --store says."},
    .examples =
        {{"uctrace check -- mpirun -np 4 ./app", "will it work here, and what to do if not"},
         {"uctrace record -- mpirun -np 4 ./app", "run a job and record it"},
         {"uctrace report --mpi MPI_Allreduce --by pairs", "who talks to whom in MPI_Allreduce"},
         {"uctrace messages --src 0 --dst 1 --min-bytes 65536", "the large messages of a pair"},
         {"uctrace view && xdg-open uctrace.data/report.html", "the page of a run"}},
    .exit_status = {}};

const std::map<std::string, VerbText> kVerbTexts = {
    {"check",
     {.arguments = "[DIR] [-- COMMAND...] | --run DIR --expect inter=A|B,intra=C",
      .description =
          {"Checks what a recording depends on: the preload library, UCX, MPI, the clocks, the "
           "folder for the data, limits and the kernel. Each line says ok, warning or problem, and "
           "what was found. A warning or problem comes with its reason and the command or line "
           "that fixes it.",
           "With a COMMAND, which may be a launcher line, check looks at the program behind the "
           "launcher and at its libraries, but does not run it. Without one, it looks at the MPIs "
           "and the UCX found on this machine.",
           "A trial proves UCX: two processes of uctrace's own exchange messages through it, and "
           "are recorded and merged. Their accounts must balance.",
           "With --expect, it looks at a recorded run instead, and says whether all payload "
           "between hosts (inter) and within hosts (intra) went by the transports that you list. "
           "Names are those of UCX_TLS: rc means rc_mlx5 and rc_verbs, sm means all of shared "
           "memory. It lists the pairs that did not do as expected."},
      .examples = {{"uctrace check", "this machine, its MPIs and UCX"},
                   {"uctrace check -- mpirun -np 4 ./app", "a job, before it is run"},
                   {"uctrace check /scratch/run1 --format json", "another folder, for a program"},
                   {"uctrace check --run DIR --expect 'inter=rc,intra=cma|self'",
                    "an acceptance test of a recorded run"}},
      .exit_status = {{"0", "everything is ok, or there are warnings only; the run is as expected"},
                      {"1", "there is a problem; the run is not as expected, or not provably"},
                      {"125", "the check itself could not be made"}}}},
    {"record",
     {.arguments = "-- COMMAND...",
      .description =
          {"Runs COMMAND and records every process of it that uses MPI or UCX. Put it in front of "
           "a launcher line, or behind the launcher: mpirun -np 4 uctrace record -- ./app. The "
           "program's output, exit status and signals stay its own.",
           "DIR must be new, empty, or made by uctrace with nothing else in it. record renames the "
           "folder of an older run to DIR.old.1, DIR.old.2, ... If that job may still be running, "
           "here or elsewhere, both are recorded into DIR. record deletes nothing.",
           "uctrace's own messages go to standard error. Behind a launcher it is silent unless you "
           "give -v.",
           "If a launcher would not pass on what the processes need, record edits its line: -x of "
           "Open MPI, -genv of Hydra, --export of srun. -v shows the line, --no-edit leaves it as "
           "it is.",
           "With --ucx, the job runs over the UCX that uctrace build-ucx made, whichever UCX it "
           "was linked with. Every UCT operation then names the UCP operation that it serves.",
           "--layers records only the layers that you name, which costs less. --layers mpi,ucp "
           "records MPI calls and UCP operations, but not what carried them. Accounts that need a "
           "layer that you left out say incomplete.",
           "--stacks mpi keeps the call stack of each MPI call, and of each UCX call that the "
           "program makes itself. Reports and messages then say who called the line that asked, "
           "even behind libraries. --stacks all also keeps the stacks of the UCP and UCT "
           "operations inside.",
           "--start-on and --stop-on record the events of parts of the run. Recording starts at "
           "MPI_Pcontrol with a level other than 0 (pcontrol) or with LEVEL (pcontrol:LEVEL), or "
           "at a signal (signal:USR1). It stops at MPI_Pcontrol(0) (pcontrol), or at the next "
           "MPI_Pcontrol(LEVEL) or signal. You can give both options several times, and windows "
           "can open and close many times. --max-log keeps the newest events of each process in "
           "SIZE, such as 64M. Counters cover the whole run in either case.",
           "--never-drop is for records that must all be there. A thread waits where it would drop "
           "records, and info says how often and for how long. It waits if it finds no memory to "
           "record into, or to follow an operation to its end, until uctrace has made some. The "
           "program's times are then not its own. If waiting does not help, for example on a full "
           "disk or after 30 seconds, uctrace still drops records and counts them.",
           "--helpers is for programs whose threads record faster than one uctrace thread can "
           "pack, on nodes with cores to spare. Up to N threads, 1 to 8, then pack in each "
           "process. All of them start with the log. All but the first sleep until records pile up "
           "while a core is free.",
           "--no-helper is for programs that put themselves into a sandbox (seccomp) that ends a "
           "process for an unexpected system call. It is also for programs that count their "
           "threads or bind each of them to a core: they would otherwise find one thread more than "
           "they started. uctrace then has no thread of its own. The thread that fills its memory "
           "packs it, within the time of that call. The log keeps the newest 64 MiB of events, or "
           "what --max-log says.",
           "--counters records no events. It counts, while the job runs, who sends how much to "
           "whom, in which sizes and by which transport; uctrace counters shows that at any time. "
           "--trace records events as well. --prof writes profiles like those of Open MPI's "
           "monitoring when the job has ended, --prof-every also while it runs. Behind a launcher, "
           "uctrace counters writes them.",
           "--gpu-history also records what the program allocates from CUDA's driver, used or not, "
           "with exact times. It needs a library that is built with -Dcupti. The driver loads that "
           "library in each process because CUDA_INJECTION64_PATH names it. If the job sets this "
           "variable itself, or another tool watches the driver, the library steps aside, and the "
           "job is recorded without the history."},
      .examples =
          {{"uctrace record -- mpirun -np 4 ./app", "a job of four ranks"},
           {"uctrace record -o run2 -- srun -n 64 ./app", "into another folder"},
           {"mpirun -np 4 uctrace record -o /shared/run -- ./app",
            "on several hosts, behind the launcher"},
           {"uctrace record --stacks mpi -- mpirun -np 4 ./app", "with call stacks"},
           {"uctrace record --ucx ~/ucx -- mpirun -np 4 ./app", "over a rebuilt UCX"},
           {"uctrace record --start-on pcontrol --stop-on pcontrol -- mpirun -np 4 ./app",
            "between MPI_Pcontrol(1) and MPI_Pcontrol(0)"},
           {"uctrace record --max-log 64M -- mpirun -np 4 ./app", "as a flight recorder"},
           {"uctrace record --counters -- mpirun -np 4 ./app", "with counters and no trace"},
           {"uctrace record --gpu-history -- mpirun -np 4 ./app", "with all CUDA allocations"}},
      .exit_status = {{"N", "the status of COMMAND; 128 + N after signal N"},
                      {"125", "uctrace could not do its part; COMMAND was not run"},
                      {"126", "COMMAND may not be executed"},
                      {"127", "COMMAND was not found"}}}},
    {"report",
     {.arguments = "[DIR]",
      .description =
          {"Begins with findings: what is worth looking at, in words, with what to try and the "
           "command that shows it. --findings prints nothing else.",
           "Then it prints up to eight tables: top contenders (which UCT operation over which "
           "transport carried how much); MPI functions (which asked for how much, and their time); "
           "pairs of ranks; the lines of the program that call; if "
           "there are GPUs, how much went from which GPU over which network card; how long "
           "messages of each protocol and size took; and, if data left its host, what each network "
           "card carried, by its own counters and as recorded. All sums are exact, medians are "
           "within 1/64. The options that choose messages and transfers mean the same for report "
           "and messages, and on the page."},
      .examples = {{"uctrace report", "findings and all tables"},
                   {"uctrace report --findings", "what is worth looking at"},
                   {"uctrace report --by protocol", "what messages cost, by protocol and size"},
                   {"uctrace report --by contenders --mpi MPI_Isend",
                    "what carried the data of MPI_Isend"},
                   {"uctrace report --by rails", "what the network cards carried"},
                   {"uctrace report --by pairs --limit 10 --format csv", "for a spreadsheet"}},
      .exit_status = kReaderStatus}},
    {"messages",
     {.arguments = "[DIR]",
      .description =
          {"Prints a receipt for each message: who sent it to whom, which MPI call asked for it, "
           "the protocol, and each step of its path with transport, device, operation, bytes and "
           "time.",
           "--id tells all that is known of a message, in sentences: what carried it, whether it "
           "was pipelined, who copied, when, what it waited for, and how sure that is."},
      .examples = {{"uctrace messages --limit 5", "the first five"},
                   {"uctrace messages --id 30", "one of them in full"},
                   {"uctrace messages --transport cma --format ndjson | jq .bytes",
                    "one JSON object a line"}},
      .exit_status = kReaderStatus}},
    {"diff",
     {.arguments = "A B",
      .description = {"Says which settings of two runs differ, and what changed from A to B: "
                      "payload by protocol, transport, device and pair of ranks; time by MPI "
                      "function, line of the program, rank, kind of wait, size and pair of "
                      "messages. The greatest change comes first, as its share of all time or "
                      "payload. It is made for one program before and after a setting.",
                      "Times count as changed if the middle halves of both runs do not overlap: "
                      "they would still differ if each call took the third quartile of its kind in "
                      "one run, and the first quartile in the other. That is a heuristic. It "
                      "cannot see what differs between two runs of the same program, such as other "
                      "jobs on the machine: record each setting twice, and compare these first.",
                      "If the runs have different numbers of ranks, diff compares what it can: "
                      "times of a rank, and percentages of payload."},
      .examples = {{"uctrace diff before after", "what changed"},
                   {"uctrace diff before after --all", "and what differs by noise"},
                   {"uctrace diff before after --format json | jq .changes[0]",
                    "the greatest change, for a program"}},
      .exit_status = kReaderStatus}},
    {"comms",
     {.arguments = "[DIR]",
      .description = {"Sums MPI calls by what --by names, in any combination: their number, the "
                      "bytes that they sent and received, their time over all ranks, and the ranks "
                      "with the least and the most time. The time of a wait belongs to the "
                      "communicators of what it waited for. If --by names transport, the rows sum "
                      "the transfers that carried the messages of these calls.",
                      "The name of a communicator is the letter of what made it, the world rank of "
                      "its rank 0, and its number among those that this process got. s0.1 is the "
                      "first one of rank 0, made by MPI_Comm_split. The program's own name stands "
                      "beside it, and --comm takes either.",
                      "Each merge also writes these sums to an SQLite file, DIR/profile.db."},
      .examples = {{"uctrace comms", "each operation on each communicator"},
                   {"uctrace comms --by comm,rank --kind collective", "who waits for whom"},
                   {"uctrace comms --by comm,op,transport", "what carried it"},
                   {"uctrace comms --by op,bucket --buckets 1K,64K,1M --format csv",
                    "sizes, for a spreadsheet"}},
      .exit_status = kReaderStatus}},
    {"waits",
     {.arguments = "[DIR]",
      .description =
          {"Says which rank makes the others wait most and in which call it comes late, what each "
           "rank spent its time with, and how long MPI calls waited for another process: late "
           "senders and receivers, barriers and other collective operations, windows and locks. "
           "The time until a late process came is waiting; what follows is moving data.",
           "uctrace reports a wait only if it is longer than the clocks may be off against each "
           "other. What it cannot tell, it counts as unknown; it never estimates. The first three "
           "tables cover the whole run; the options choose rows of the last one.",
           "Call sites need no option of record. record --stacks mpi also finds them behind "
           "libraries, and finds the whole paths of --by call-path."},
      .examples = {{"uctrace waits", "who delays the job"},
                   {"uctrace waits --by pair --limit 10", "who waits for whom"},
                   {"uctrace waits --by time --interval 100ms", "when the waits were"},
                   {"uctrace waits --by call-site --kind late_sender --format csv",
                    "one kind of wait by line of the program"}},
      .exit_status = kReaderStatus}},
    {"simulate",
     {.arguments = "[DIR]",
      .description =
          {"Replays the run under one or more hypotheses, and says how long the run and each rank "
           "would take. What each call depends on stays as recorded: the message that it receives, "
           "the other processes in a collective operation. Without a hypothesis, it replays the "
           "run as it was. It prints that replay with each prediction, too.",
           "The options can be combined; --faster and --network can be given more than once. "
           "Faster parts come first, then "
           "partitions; then balance evens out the rest. With each prediction, simulate prints "
           "what it assumes, and what it could not replay."},
      .examples = {{"uctrace simulate --balance run", "what better balance would bring"},
                   {"uctrace simulate --faster compute@1=2", "rank 1 computes twice as fast"},
                   {"uctrace simulate --faster MPI_Allreduce=4 --format json", "for a script"},
                   {"uctrace simulate --network tcp=latency:2us,bandwidth:10G",
                    "what goes over TCP on a faster network"}},
      .exit_status = kReaderStatus}},
    {"partitions",
     {.arguments = "[DIR]",
      .description =
          {"Prints what is known of partitioned messages (MPI_Psend_init and MPI_Precv_init), in "
           "one of five lists. requests: each request, and the request of the other side that it "
           "matches. uses: each start of a request, when its last partition was ready, and when it "
           "was complete. lines: which partition of the sender overlaps which of the receiver, by "
           "how many bytes, when the one was ready, and when the other was seen to have arrived. "
           "events: all calls on partitions, by time. polls: how often MPI_Parrived found nothing. "
           "Such a call has a record of its own only if MPI made progress in it, or with record "
           "--polls."},
      .examples = {{"uctrace partitions", "the requests"},
                   {"uctrace partitions --list lines --format csv", "for a spreadsheet"}},
      .exit_status = kReaderStatus}},
    {"placement",
     {.arguments = "[DIR]",
      .description =
          {"Proposes nodes and cores for the ranks of a job: ranks that send each other much "
           "should be near each other. The matrix has the messages of the run, including those "
           "that collective calls sent below; if only counters were recorded, it is that of the "
           "counters. It prints what a model says of the current placement, of ranks packed by "
           "node, of ranks dealt out to nodes in turn, and of the "
           "proposed placement. If the proposal saves less than 5 %, it says to keep the current "
           "one.",
           "The cost of a placement is the sum over all pairs of ranks of what they exchanged, "
           "times what it costs to be on different nodes, packages or cores. SCOTCH distributes "
           "the ranks, and moves of single ranks improve the result. --write makes files for Open "
           "MPI, MPICH and Slurm, and keys for a job that reorders itself with MPI_Comm_split."},
      .examples = {{"uctrace placement", "is there anything to gain?"},
                   {"uctrace placement --by waits", "put ranks that wait for each other together"},
                   {"uctrace placement --write placed && mpirun --rankfile placed/rankfile ./app",
                    "run with the proposed placement"}},
      .exit_status = kReaderStatus}},
    {"counters",
     {.arguments = "[DIR]",
      .description =
          {"Prints the counters of a job that was started with uctrace record --counters: messages "
           "and bytes by class and pair of ranks or processes, by size, by transport, device and "
           "operation, by GPU, by MPI function, and by communicator. The job may still be running: "
           "reading never makes it wait.",
           "external: messages of point-to-point calls. internal: messages that MPI sent for "
           "itself, mostly below its collectives. one-sided-sent and one-sided-received: data of "
           "one-sided calls. collective: what collective calls mean for each peer, whatever "
           "carried it.",
           "--prof writes what Open MPI's monitoring writes, for its scripts to read; --gather "
           "puts all of that into one file. --matrices writes the matrices of its profile2mat.pl "
           "(PREFIX_msg_CLASS.mat, PREFIX_size_CLASS.mat, PREFIX_avg_CLASS.mat), --directed the "
           "same with a row for each sender. Processes without a rank, and ranks of spawned "
           "worlds, have numbers there, which PREFIX.numbers.tsv lists. With --every, counters "
           "writes them again and again while the job runs, and once more when it has ended."},
      .examples = {{"uctrace counters", "all tables"},
                   {"uctrace counters --by pairs --format csv", "one of them, for a program"},
                   {"uctrace counters run --prof prof/app",
                    "prof/app.0.prof, prof/app.1.prof, ..."},
                   {"uctrace counters run --every 10 --gather now.prof", "again every 10 seconds"}},
      .exit_status = kReaderStatus}},
    {"top",
     {.arguments = "[DIR]",
      .description = {"Takes two readings of the counters of a job that was started with uctrace "
                      "record --counters. It prints how much was counted per second in between, "
                      "beside the totals so far. The tables are those of uctrace counters, the "
                      "highest rate first. Reading never makes the job wait.",
                      "On a terminal, it goes on until the job has ended, or until Ctrl-C. With "
                      "--once, or if the output is no terminal, it prints once. If the job has "
                      "ended, the rates are 0. A process that was killed keeps its last numbers."},
      .examples = {{"uctrace top --by pairs --limit 20", "who sends most now"},
                   {"uctrace top --once --format json", "for a script"}},
      .exit_status = kReaderStatus}},
    {"serve",
     {.arguments = "--metrics [DIR]",
      .description =
          {"Serves the counters of a job that was started with uctrace record --counters, as "
           "OpenMetrics text that Prometheus reads. It answers HTTP requests for /metrics from "
           "this machine, and prints the URL. It reads the counter files when it gets a request; "
           "the job never waits. It goes on after the job has ended, until SIGINT or SIGTERM.",
           "A counter never goes down: a process that ended or was killed leaves its last values. "
           "All jobs of DIR that count are served, each with its label job_id; --job serves one.",
           "It listens on 127.0.0.1, where every user of this machine can read the counters. With "
           "another --address, other machines can, too. There is no password."},
      .examples = {{"uctrace serve --metrics", "the job in uctrace.data, on port 29464"},
                   {"uctrace serve --metrics --wait --port 0 run",
                    "before the job begins, on any free port"},
                   {"curl http://127.0.0.1:29464/metrics", "what Prometheus gets"}},
      .exit_status = {{"0", "it was told to end, by SIGINT or SIGTERM"},
                      {"125", "uctrace could not do it; the reason is on standard error"}}}},
    {"hang",
     {.arguments = "[DIR]",
      .description =
          {"For a job that runs, or was killed or aborted, hang says in which MPI call each rank "
           "sits, at which line of the program and since when, and what it waits for. It shows the "
           "cycle in which ranks wait for each other, or the rank that the others wait for. It "
           "also shows members of a communicator that are in different collective operations and, "
           "for a receive that nothing arrived for, the sent message that differs least from what "
           "it wants.",
           "hang does not disturb a running job: it reads the logs, and you can run it again. What "
           "it says is about one instant that all logs cover. It says deadlock only if none of the "
           "ranks in it can go on. It marks what rests on a guess as not sure."},
      .examples = {{"uctrace hang", "the job that was recorded last, also while it runs"},
                   {"uctrace hang --format json | jq .cycle", "the cycle, for a program"}},
      .exit_status = kReaderStatus}},
    {"info",
     {.arguments = "[DIR]",
      .description = {"Prints the facts of a run: the command, versions, clocks, processes, which "
                      "layers recorded, what is missing, and the accounting identities. Each "
                      "identity compares a count made in the job with one made from its records."},
      .examples = {{"uctrace info", "everything"},
                   {"uctrace info --list identities --format csv", "one list, for a program"}},
      .exit_status = {{"0", "no identity is violated"},
                      {"1", "one is"},
                      {"125", "uctrace could not do it; the reason is on standard error"}}}},
    {"view",
     {.arguments = "[DIR]",
      .description =
          {"Writes the run as one HTML file that opens from disk, with no server and no network, "
           "and prints its name.",
           "With --before, the page also says what changed since an earlier run, as uctrace diff "
           "does.",
           "With --tiles, view writes a folder: index.html, a page with the sums of the run, or of "
           "--from and --to, "
           "and tiles, which are files with all operations. The page loads the tiles of the "
           "visible time. It opens from disk, too. view refuses a name that exists already.",
           "With --serve, view writes no file. It serves the page on 127.0.0.1 until SIGINT or "
           "SIGTERM, at an address that cannot be guessed, and prints that address. The page then "
           "has a link to a page of the visible time alone; with --tiles, it loads all operations "
           "of that time. From another machine, ssh -L PORT:127.0.0.1:PORT leads there."},
      .examples = {{"uctrace view && xdg-open uctrace.data/report.html", "write it and open it"},
                   {"uctrace view --from 1.2s --to 1.3s", "a tenth of a second, in full detail"},
                   {"uctrace view run1 -o - | ssh laptop 'cat > run1.html'", "send it elsewhere"},
                   {"uctrace view after --before before", "and what changed"},
                   {"uctrace view --tiles -o tiles", "all operations of a long run, in a folder"},
                   {"uctrace view --serve --port 8123", "serve a run with very many messages"}},
      .exit_status = kReaderStatus}},
    {"export",
     {.arguments = "--to FORMAT [DIR]",
      .description = {"Writes the run in a format that other tools read, and prints where it is. "
                      "csv is a folder with a file for each table of the run, for pandas, R or a "
                      "spreadsheet. perfetto is one file for ui.perfetto.dev: who was in which "
                      "call and operation when, messages as arrows, and bytes per second. otf2 is "
                      "an archive for Vampir, Scalasca, Pipit and otf2-print.",
                      "export overwrites nothing: PATH must be a new name. It says what is missing "
                      "or doubtful in the run, on standard error and in the export."},
      .examples = {{"uctrace export --to csv", "uctrace.data.csv/messages.csv, ..."},
                   {"uctrace export --to perfetto -o run1.perfetto-trace",
                    "open it in ui.perfetto.dev"},
                   {"uctrace export run1 --to otf2 && otf2-print run1.otf2/traces.otf2",
                    "an archive, and what is in it"}},
      .exit_status = kReaderStatus}},
    {"merge",
     {.arguments = "[DIR]",
      .description = {"Merges the logs of the newest job in DIR into DIR/run.h5 and "
                      "DIR/profile.db, whatever was there before. The other verbs do this by "
                      "themselves if the files there are not of these logs."},
      .examples = {{"uctrace merge /shared/run", "merge on the machine that has the memory"}},
      .exit_status = kReaderStatus}},
    {"build-ucx",
     {.arguments = "[SOURCE]",
      .description = {"Builds UCX 1.12 to 1.23 with the hooks of uctrace, for `uctrace record "
                      "--ucx`. uctrace then ties every UCT operation to its UCP operation while "
                      "the job runs. build-ucx needs no privileges and does not change SOURCE. "
                      "Without uctrace, the result is as fast as the UCX that it is made from.",
                      "build-ucx configures it like the site's UCX, as ucx_info reports it. It "
                      "leaves out, and names, each option that cannot be met on this machine. At "
                      "the end, it compares transports and devices with those of the site's UCX.",
                      "Without SOURCE, on Debian and Ubuntu, apt fetches the sources of the "
                      "installed libucx0 from the machine's mirrors."},
      .examples = {{"uctrace build-ucx", "the UCX of this distribution"},
                   {"uctrace build-ucx ucx-1.18.1.tar.gz --prefix /shared/ucx-hooks",
                    "a release, for all hosts"},
                   {"uctrace build-ucx ~/ucx --configure --with-cuda=/usr/local/cuda",
                    "a work tree, with CUDA"}},
      .exit_status = {{"0", "it was built, or is there already"},
                      {"125", "uctrace could not do it; the reason is on standard error"},
                      {"128 + N", "signal N ended it; nothing of the build is left"}}}},
};

}  // namespace

VerbText verb_text(const std::string& verb) {
  return verb.empty() ? kOwnText : kVerbTexts.at(verb);
}

}  // namespace uctrace::cli
