// The words of the manual on each verb that no option carries.
#include <map>

#include "cli/command-line/manual.hpp"

namespace uctrace::cli {
namespace {

const std::vector<Definition> kReaderStatus = {
    {"0", "done"}, {"125", "uctrace could not do it; the reason is on standard error"}};

const VerbText kOwnText = {
    .arguments = "",
    .description =
        {"For every message of an unmodified MPI or UCX job, uctrace shows which MPI call and "
         "communicator asked for it, which UCP protocol and UCT transport carried it over which "
         "device, when, and what it cost. It needs no privileges and no rebuild, and the job "
         "behaves as without it.",
         "DIR is the folder with the data of a run, uctrace.data if it is left out. Inside a batch "
         "job of Slurm, PBS, LSF or Flux that is uctrace.data.JOBID. A verb that reads a run "
         "merges its logs first where that is needed, and keeps the result in DIR; if DIR is "
         "another user's, below ~/.cache/uctrace; or where --store says."},
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
          {"Looks at what a recording depends on: the preload library, UCX, MPI, the clocks, the "
           "folder for the data, limits and the kernel. Each line says ok, warning or problem and "
           "what was found; what is not ok has its reason and the command or line that repairs it.",
           "With a COMMAND, which may be a launcher line, the program behind the launcher and its "
           "libraries are looked at; it is not run. Without one, the MPIs and the UCX that are "
           "found on this machine.",
           "UCX is proven by a trial: two processes of uctrace's own exchange messages through it, "
           "are recorded, merged, and their accounts must balance.",
           "With --expect it looks at a recorded run instead: whether all payload between hosts "
           "(inter) and within hosts (intra) went by the transports that are listed. Names are "
           "those of UCX_TLS: rc means rc_mlx5 and rc_verbs, sm all of shared memory. The pairs "
           "that did otherwise are listed."},
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
           "program's output, its exit status and its signals are its own.",
           "DIR must be new, empty, or made by uctrace with nothing else in it. The folder of an "
           "older run is renamed to DIR.old.1, DIR.old.2, ...; while that job may still run, here "
           "or elsewhere, both are recorded into DIR. Nothing is deleted.",
           "What uctrace itself has to say goes to standard error; behind a launcher it is silent "
           "unless -v is given.",
           "Where a launcher would not pass on what the processes need, its line is edited: -x of "
           "Open "
           "MPI, -genv of Hydra, --export of srun. -v shows the line, --no-edit leaves it as it "
           "is.",
           "With --ucx the job runs over the UCX that uctrace build-ucx made, whichever it was "
           "linked "
           "with: every UCT operation then names the UCP operation it serves.",
           "--layers leaves out what is not asked for, which is cheaper: --layers mpi,ucp records "
           "the "
           "calls of MPI and the operations of UCP, and not what carried them. Accounts that need "
           "a "
           "layer that was left out say incomplete.",
           "--stacks mpi keeps the call stack of each MPI call, and of what the program asks of "
           "UCX "
           "by itself: reports and messages then tell who called the line that asked, also behind "
           "libraries. --stacks all keeps those of the operations of UCP and UCT inside, too.",
           "--start-on and --stop-on record the events of parts of the run: from MPI_Pcontrol with "
           "a "
           "level that is not 0 (pcontrol) or with LEVEL, or from a signal (signal:USR1) on, until "
           "MPI_Pcontrol(0) or the next. Both may be given several times, and windows may open and "
           "close many times. --max-log keeps the newest events of each process in SIZE, such as "
           "64M. Counters are of the whole run in either case.",
           "--never-drop is for records that must all be there: a thread that finds no memory to "
           "record into, or to follow an operation to its end, waits until uctrace has made some, "
           "where it would drop records, and info says how often and for how long. The times of "
           "the program are not its own then. Where waiting does not help, as on a full disk, or "
           "for 30 seconds, records are dropped and counted all the same.",
           "--helpers is for programs whose threads record faster than one thread of uctrace's can "
           "pack, on nodes with cores to spare: up to N threads, 1 to 8, then pack in each "
           "process. All start with the log. All but the first sleep until records pile up while "
           "a core is free.",
           "--no-helper is for programs that put themselves into a sandbox (seccomp) which ends a "
           "process for a system call that it does not expect, and for programs that count their "
           "threads or bind each of them to a core, which would otherwise find one thread more "
           "than they started. uctrace then has no thread: who fills its memory packs it, which is "
           "in the time of that call, and the log keeps the newest 64 MiB of events, or what "
           "--max-log says.",
           "--counters keeps no events, but counts while the job runs who sends how much to whom, "
           "in "
           "which sizes, by which transport: uctrace counters shows that at any time. --trace "
           "records events as well. --prof writes profiles as Open MPI's monitoring does when the "
           "job has ended, --prof-every also while it runs; behind a launcher uctrace counters "
           "writes them.",
           "--gpu-history also records what the program allocates of CUDA's driver, used or not, "
           "with exact times. It takes a library that is built with -Dcupti, which the driver "
           "loads "
           "in each process by CUDA_INJECTION64_PATH. Where the job sets that itself, or another "
           "tool watches the driver, it steps aside, and the job is recorded without."},
      .examples =
          {{"uctrace record -- mpirun -np 4 ./app", "a job of four ranks"},
           {"uctrace record -o run2 -- srun -n 64 ./app", "into another folder"},
           {"mpirun -np 4 uctrace record -o /shared/run -- ./app",
            "on several hosts, behind the launcher"},
           {"uctrace record --stacks mpi -- mpirun -np 4 ./app", "with the lines that call"},
           {"uctrace record --ucx ~/ucx -- mpirun -np 4 ./app", "over a rebuilt UCX"},
           {"uctrace record --start-on pcontrol --stop-on pcontrol -- mpirun -np 4 ./app",
            "between MPI_Pcontrol(1) and MPI_Pcontrol(0)"},
           {"uctrace record --max-log 64M -- mpirun -np 4 ./app", "as a flight recorder"},
           {"uctrace record --counters -- mpirun -np 4 ./app", "with counters and no trace"},
           {"uctrace record --gpu-history -- mpirun -np 4 ./app", "with all allocations of CUDA"}},
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
           "transport carried how much), MPI functions (which asked for how much, and their time), "
           "pairs of "
           "ranks, where call stacks were recorded the lines of the program that call, and where "
           "GPUs are how much went from which GPU over which network card, and how long messages "
           "of each protocol and size took, and where data left its host what each network card "
           "carried, by its own counters and as recorded. All sums are exact, medians within 1/64. "
           "The "
           "options that choose messages and transfers mean the "
           "same for report and messages, and on the page."},
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
           "was "
           "pipelined, who copied, when, what it waited for, and how sure that is."},
      .examples = {{"uctrace messages --limit 5", "the first five"},
                   {"uctrace messages --id 30", "one of them in full"},
                   {"uctrace messages --transport cma --format ndjson | jq .bytes",
                    "one JSON object a line"}},
      .exit_status = kReaderStatus}},
    {"diff",
     {.arguments = "A B",
      .description =
          {"Says which settings of two runs differ, and what changed from A to B: payload by "
           "protocol, transport, device and pair of ranks; time by MPI function, line of the "
           "program, rank, kind of wait, size and pair of messages. The greatest change comes "
           "first, as its share of all time or payload. It is made for one program before and "
           "after a setting.",
           "Times are called changed where the middle halves of both runs do not meet: if each "
           "call took as long as the slower quarter of its kind in the one run, and the faster "
           "quarter in the other, they would differ still. That is a heuristic. What differs "
           "between two runs of the same, such as other jobs on the machine, it cannot see: "
           "record each setting twice, and compare these first.",
           "Runs with different numbers of ranks are compared by what can be: times of a rank, and "
           "percent of payload."},
      .examples = {{"uctrace diff before after", "what changed"},
                   {"uctrace diff before after --all", "and what differs by noise"},
                   {"uctrace diff before after --format json | jq .changes[0]",
                    "the greatest change, for a program"}},
      .exit_status = kReaderStatus}},
    {"comms",
     {.arguments = "[DIR]",
      .description =
          {"Sums the calls of MPI by what --by names, in any combination: their number, the bytes "
           "that they sent and received, their time over all ranks, and the ranks with the least "
           "and the most of it. The time of a wait belongs to the communicators of what it waited "
           "for. With transport among them, the rows are of the transfers that carried the "
           "messages of these calls.",
           "Communicators are named by the letter of what made them, the world rank of their rank "
           "0, and the how-manieth it was that this process made: s0.1 is the first one of rank 0, "
           "by MPI_Comm_split. The program's own name stands beside it, and --comm takes either.",
           "Each merge writes the same as an SQLite file, DIR/profile.db, too."},
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
           "rank spent its time with, and how long calls of MPI waited for another process: late "
           "senders and receivers, barriers and other collective operations, windows and locks. "
           "The time before a late process came is waiting, what follows is moving data.",
           "A wait is claimed only where it is longer than the clocks may be off against each "
           "other. "
           "What cannot be told is counted as unknown, never estimated. The first three tables are "
           "of the whole run; the options choose rows of the last one.",
           "Call sites need nothing more than what is recorded; record --stacks mpi finds them "
           "behind libraries, too, and the whole paths of --by call-path."},
      .examples = {{"uctrace waits", "who delays the job"},
                   {"uctrace waits --by pair --limit 10", "who waits for whom"},
                   {"uctrace waits --by time --interval 100ms", "when the waits were"},
                   {"uctrace waits --by call-site --kind late_sender --format csv",
                    "one kind of wait by line of the program"}},
      .exit_status = kReaderStatus}},
    {"simulate",
     {.arguments = "[DIR]",
      .description =
          {"Goes through the run again as it would have been by one or more hypotheses, and says "
           "how long the run and each rank would take. What each call depends on stays as it was "
           "recorded: the message that it receives, the others in a collective operation. With no "
           "hypothesis the run is replayed as it was, which is printed with each prediction, too.",
           "The options may be given together, and more than once. Parts that are faster come "
           "first, then partitions, then balance evens out the rest. What the prediction assumes, "
           "and what could not be replayed, is printed with it."},
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
           "one "
           "of five lists. requests: each request, and which one of the other side it matches. "
           "uses: each start of one, when its last partition was ready, and when it was complete. "
           "lines: which partition of the sender overlaps which of the receiver, by how many "
           "bytes, "
           "and when the one was ready and the other seen to have arrived. events: all calls on "
           "partitions, by time. polls: how often MPI_Parrived found nothing, which has a record "
           "of "
           "its own only with record --polls."},
      .examples = {{"uctrace partitions", "the requests"},
                   {"uctrace partitions --list lines --format csv", "for a spreadsheet"}},
      .exit_status = kReaderStatus}},
    {"placement",
     {.arguments = "[DIR]",
      .description =
          {"Says on which nodes and cores the ranks of a job would better be, so that those that "
           "send each other much are near. The matrix is that of the messages of the run, with "
           "those that collective calls sent below. Printed is what a model says of the placement "
           "of now, of ranks packed by node, of ranks dealt out to nodes in turn, and of the "
           "proposed one. Where that saves less than 5 %, it says to keep what there is.",
           "The cost of a placement is the sum over all pairs of ranks of what they exchanged, "
           "times what it costs to be on different nodes, packages or cores. SCOTCH shares out the "
           "ranks, and changes of single places make it better. --write makes files for Open MPI, "
           "MPICH and Slurm, and keys for a job that reorders itself by MPI_Comm_split."},
      .examples = {{"uctrace placement", "is there anything to gain?"},
                   {"uctrace placement --by waits", "ranks that wait for each other come together"},
                   {"uctrace placement --write placed && mpirun --rankfile placed/rankfile ./app",
                    "run as it is proposed"}},
      .exit_status = kReaderStatus}},
    {"counters",
     {.arguments = "[DIR]",
      .description =
          {"Prints the counters of a job that was started by uctrace record --counters: messages "
           "and bytes by class and rank pair, by size, by transport, device and operation, by GPU, "
           "by MPI function, and by communicator. The job may still run: nothing waits for who "
           "reads.",
           "external are messages of point-to-point calls, internal those that MPI sent for "
           "itself, "
           "most of all below its collectives; one-sided-sent and one-sided-received is data of "
           "one-sided calls; collective is what collective calls mean for each peer, whatever "
           "carried it.",
           "--prof writes what Open MPI's monitoring writes, so that its scripts read it; --gather "
           "puts all of that into one file. --matrices writes the matrices of its profile2mat.pl "
           "(PREFIX_msg_CLASS.mat, PREFIX_size_CLASS.mat, PREFIX_avg_CLASS.mat), --directed the "
           "same with a row for each sender. With --every they are written again and again while "
           "the job runs, and once more when it has ended."},
      .examples = {{"uctrace counters", "all tables"},
                   {"uctrace counters --by pairs --format csv", "one of them, for a program"},
                   {"uctrace counters run --prof prof/app",
                    "prof/app.0.prof, prof/app.1.prof, ..."},
                   {"uctrace counters run --every 10 --gather now.prof", "again every 10 seconds"}},
      .exit_status = kReaderStatus}},
    {"top",
     {.arguments = "[DIR]",
      .description =
          {"Reads the counters of a job that was started by uctrace record --counters twice, and "
           "prints how much was counted a second in between, beside all that was counted so far: "
           "the tables of uctrace counters, the greatest rate first. Nothing waits for who reads.",
           "On a terminal it goes on until the job has ended, or Ctrl-C. With --once, and where "
           "the output is no terminal, it prints once. Of a job that has ended, the rates are 0. A "
           "process that was killed is shown with its last numbers."},
      .examples = {{"uctrace top --by pairs --limit 20", "who sends most now"},
                   {"uctrace top --once --format json", "for a script"}},
      .exit_status = kReaderStatus}},
    {"serve",
     {.arguments = "--metrics [DIR]",
      .description =
          {"Answers HTTP requests of this machine for /metrics with the counters of a job that was "
           "started by uctrace record --counters, as OpenMetrics text that Prometheus reads, and "
           "prints the URL. The counter files are read when somebody asks; nothing in the job "
           "waits. It goes on after the job has ended, until SIGINT or SIGTERM.",
           "A counter never goes down: a process that ended or was killed leaves its last values. "
           "Of several jobs in DIR the newest is served, as its label job_id says.",
           "It listens on 127.0.0.1, where every user of this machine can ask. With another "
           "--address other machines can, too; there is no password."},
      .examples = {{"uctrace serve --metrics", "the job in uctrace.data, on port 29464"},
                   {"uctrace serve --metrics --wait --port 0 run",
                    "before the job begins, on any free port"},
                   {"curl http://127.0.0.1:29464/metrics", "what Prometheus gets"}},
      .exit_status = {{"0", "it was told to end, by SIGINT or SIGTERM"},
                      {"125", "uctrace could not do it; the reason is on standard error"}}}},
    {"hang",
     {.arguments = "[DIR]",
      .description =
          {"Says of a job that runs, or was killed or aborted, in which MPI call each rank sits, "
           "at "
           "which line of the program and since when; what it waits for; the cycle in which ranks "
           "wait for each other, or the rank that the others wait for; members of a communicator "
           "that are in different collective operations; and for a receive that nothing arrived "
           "for, the sent message that differs least from what it wants.",
           "A running job is not disturbed: its logs are read, and may be read again. What is "
           "said is of one instant that all logs know. A deadlock is only called so where no rank "
           "of it can go on; what rests on a guess is marked as not sure."},
      .examples = {{"uctrace hang", "the job that was recorded last, also while it runs"},
                   {"uctrace hang --format json | jq .cycle", "the cycle, for a program"}},
      .exit_status = kReaderStatus}},
    {"info",
     {.arguments = "[DIR]",
      .description =
          {"Prints the facts of a run: the command, versions, clocks, processes, which layers "
           "recorded, what is missing, and the accounting identities, each of which compares a "
           "count made in the job with one made from its records."},
      .examples = {{"uctrace info", "everything"},
                   {"uctrace info --list identities --format csv", "one list, for a program"}},
      .exit_status = {{"0", "no identity is violated"},
                      {"1", "one is"},
                      {"125", "uctrace could not do it; the reason is on standard error"}}}},
    {"view",
     {.arguments = "[DIR]",
      .description = {"Writes the run as one HTML file that opens from disk, with no server and no "
                      "network, and prints its name.",
                      "With --before, the page also says what changed since an earlier run, as "
                      "uctrace diff does.",
                      "With --tiles, a folder is written: index.html, a page with the sums of the "
                      "whole run, and tiles, files with all operations, of which it loads those "
                      "of the visible time. It opens from disk, too. A name that something has "
                      "already is refused.",
                      "With --serve, no file is written: the page is served on 127.0.0.1, under an "
                      "address that cannot be guessed and is printed, until SIGINT or SIGTERM. It "
                      "then has a link to a page of the visible time alone; with --tiles, it "
                      "loads all operations of that. From another machine, "
                      "ssh -L PORT:127.0.0.1:PORT leads there."},
      .examples = {{"uctrace view && xdg-open uctrace.data/report.html", "write it and open it"},
                   {"uctrace view --from 1.2s --to 1.3s", "a tenth of a second, in full detail"},
                   {"uctrace view run1 -o - | ssh laptop 'cat > run1.html'", "send it elsewhere"},
                   {"uctrace view after --before before", "and what changed"},
                   {"uctrace view --tiles -o tiles", "all operations of a long run, in a folder"},
                   {"uctrace view --serve --port 8123", "of a run with very many messages"}},
      .exit_status = kReaderStatus}},
    {"export",
     {.arguments = "--to FORMAT [DIR]",
      .description =
          {"Writes the run in a format that other tools read, and prints where it is. csv is a "
           "folder with a file for each table of the run, for pandas, R or a spreadsheet. perfetto "
           "is one file for ui.perfetto.dev: who was in which call and operation when, messages "
           "as arrows, and bytes a second. otf2 is an archive for Vampir, Scalasca, Pipit and "
           "otf2-print.",
           "Nothing is overwritten: PATH must be a new name. What is missing or doubtful in the "
           "run is said on standard error, and in the export."},
      .examples = {{"uctrace export --to csv", "uctrace.data.csv/messages.csv, ..."},
                   {"uctrace export --to perfetto -o run1.perfetto-trace",
                    "to be opened in ui.perfetto.dev"},
                   {"uctrace export run1 --to otf2 && otf2-print run1.otf2/traces.otf2",
                    "an archive, and what is in it"}},
      .exit_status = kReaderStatus}},
    {"merge",
     {.arguments = "[DIR]",
      .description =
          {"Merges the logs of the newest job in DIR into DIR/run.h5 and DIR/profile.db, whatever "
           "was there before. The other verbs do this by themselves when what lies there is not of "
           "these logs."},
      .examples = {{"uctrace merge /shared/run", "merge where the memory is"}},
      .exit_status = kReaderStatus}},
    {"build-ucx",
     {.arguments = "[SOURCE]",
      .description =
          {"Builds UCX 1.12 to 1.23 with the hooks of uctrace, for `uctrace record --ucx`: every "
           "UCT operation is then tied to its UCP operation while the job runs. It needs no "
           "privileges, SOURCE is not changed, and without uctrace the result is as fast as the "
           "UCX it is made from.",
           "It is configured as the UCX of the site, which ucx_info tells. An option that cannot "
           "be fulfilled on this machine is left out and named. At the end transports and devices "
           "are compared with those of the site's UCX.",
           "Without SOURCE, on Debian and Ubuntu, the sources of the installed libucx0 are "
           "fetched by apt from the machine's mirrors."},
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
