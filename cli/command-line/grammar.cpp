#include "cli/command-line/grammar.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command-line/hypothesis_options.hpp"
#include "cli/command-line/level_costs.hpp"
#include "cli/command-line/option_kinds.hpp"
#include "cli/command-line/shared_options.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli {
namespace {

const Choices<ReportBy> kReportBy = {{"contenders", ReportBy::contenders},
                                     {"mpi", ReportBy::mpi},
                                     {"pairs", ReportBy::pairs},
                                     {"call-sites", ReportBy::call_sites},
                                     {"gpu-nic", ReportBy::gpu_nic},
                                     {"protocol", ReportBy::protocol},
                                     {"registration", ReportBy::registration},
                                     {"connections", ReportBy::connections},
                                     {"library", ReportBy::library},
                                     {"rails", ReportBy::rails},
                                     {"all", ReportBy::all}};
const Choices<CommsBy> kCommsBy = {
    {"comm", CommsBy::comm},           {"op", CommsBy::op},
    {"kind", CommsBy::kind},           {"rank", CommsBy::rank},
    {"bucket", CommsBy::bucket},       {"time", CommsBy::time},
    {"call-site", CommsBy::call_site}, {"transport", CommsBy::transport}};
const Choices<MessageOrder> kMessageOrders = {{"time", MessageOrder::time},
                                              {"wait", MessageOrder::wait},
                                              {"duration", MessageOrder::duration},
                                              {"bytes", MessageOrder::bytes}};
const Choices<WaitsBy> kWaitsBy = {{"all", WaitsBy::all},
                                   {"pair", WaitsBy::pair},
                                   {"rank", WaitsBy::rank},
                                   {"call-site", WaitsBy::call_site},
                                   {"call-path", WaitsBy::call_path},
                                   {"comm", WaitsBy::comm},
                                   {"time", WaitsBy::time},
                                   {"kind", WaitsBy::kind}};
const Choices<EvenPartitions> kEvenPartitions = {{"threads", EvenPartitions::threads},
                                                 {"partitions", EvenPartitions::partitions}};
const Choices<CountersBy> kCountersBy = {{"pairs", CountersBy::pairs},
                                         {"sizes", CountersBy::sizes},
                                         {"transports", CountersBy::transports},
                                         {"devices", CountersBy::devices},
                                         {"gpus", CountersBy::gpus},
                                         {"functions", CountersBy::functions},
                                         {"communicators", CountersBy::communicators},
                                         {"processes", CountersBy::processes},
                                         {"all", CountersBy::all}};
const Choices<PartitionsList> kPartitionsLists = {{"requests", PartitionsList::requests},
                                                  {"uses", PartitionsList::uses},
                                                  {"lines", PartitionsList::lines},
                                                  {"events", PartitionsList::events},
                                                  {"polls", PartitionsList::polls}};
const Choices<PlacementBy> kPlacementBy = {{"bytes", PlacementBy::bytes},
                                           {"messages", PlacementBy::messages},
                                           {"waits", PlacementBy::waits}};
const Choices<Format> kTableOrJson = {{"table", Format::table}, {"json", Format::json}};
const Choices<InfoList> kInfoLists = {
    {"processes", InfoList::processes},   {"layers", InfoList::layers},
    {"identities", InfoList::identities}, {"links", InfoList::links},
    {"faults", InfoList::faults},         {"notes", InfoList::notes},
    {"settings", InfoList::settings},     {"all", InfoList::all}};

const Choices<ExportTo> kExportTo = {
    {"otf2", ExportTo::otf2}, {"perfetto", ExportTo::perfetto}, {"csv", ExportTo::csv}};
const Choices<P2pMirror> kP2pMirrors = {{"last-pready", P2pMirror::last_pready},
                                        {"start", P2pMirror::start},
                                        {"none", P2pMirror::none}};

// May be given several times; `take` throws Error for a value that it cannot read.
void add_hypothesis(CLI::App& verb, const std::string& option, const std::string& kind,
                    const std::string& help, std::function<void(const std::string&)> take) {
  verb.add_option_function<Words>(
          option,
          [take = std::move(take)](const Words& texts) {
            for (const std::string& text : texts) take(text);
          },
          help)
      ->allow_extra_args(false)
      ->check(not_empty(option))
      ->type_name(kind);
}

}  // namespace

Grammar::Grammar() {
  add_check();
  add_record();
  add_report();
  add_messages();
  add_diff();
  add_comms();
  add_waits();
  add_simulate();
  add_partitions();
  add_placement();
  add_counters();
  add_top();
  add_serve();
  add_hang();
  add_info();
  add_view();
  add_export();
  add_merge();
  add_build_ucx();
}

void Grammar::add_report() {
  CLI::App& verb = add_verb(
      "report", "Findings, and tables: transports, MPI functions, rank pairs, protocols", report_);
  add_data(verb, report_.data);
  add_job(verb, report_.data);
  add_choice(verb, "--by", report_.options.by, kReportBy, "Which table [all]");
  verb.add_flag("--findings", report_.options.only_findings,
                "What is worth looking at, in words, and what to try; no tables");
  add_format(verb, report_.options.format);
  add_wide(verb, report_.wide);
  add_limit(verb, report_.options.limit, "Rows of each table [all]");
  verb.add_flag_callback(
      "--internal", [this] { report_.options.without_message = WithoutMessage::counted; },
      "Also count transfers that serve no message");
  add_filter(verb, report_.filter);
}

void Grammar::add_messages() {
  CLI::App& verb = add_verb("messages", "Each message and the path its data took", messages_);
  add_data(verb, messages_.data);
  add_job(verb, messages_.data);
  add_format(verb, messages_.format);
  add_wide(verb, messages_.wide);
  add_limit(verb, messages_.limit, "Number of messages [all]");
  add_choice(verb, "--sort", messages_.order, kMessageOrders,
             "What comes first: the greatest wait, duration or size [time]");
  verb.add_option("--id", messages_.ids, "Messages by their number, each described in full")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(a_number("--id"))
      ->type_name("N,M")
      ->group(kChoosing);
  add_filter(verb, messages_.filter);
}

void Grammar::add_diff() {
  CLI::App& verb = add_verb("diff", "What changed from one run to another", diff_);
  diff_.a.folder.clear();  // both must be given
  diff_.b.folder.clear();
  add_path(verb, "A", diff_.a.folder, "", "Folder with the data of the run before");
  add_path(verb, "B", diff_.b.folder, "", "Folder with the data of the run after");
  add_threads(verb, diff_.a.threads);
  add_format(verb, diff_.options.format);
  add_limit(verb, diff_.options.limit, "Changes to print [20 in a table without --all, else all]");
  verb.add_flag("--all", diff_.options.all, "Also print small changes and what differs by noise");
  add_wide(verb, diff_.wide);
}

void Grammar::add_comms() {
  CLI::App& verb =
      add_verb("comms", "Calls, volume and time by communicator, operation, rank", comms_);
  add_data(verb, comms_.data);
  add_job(verb, comms_.data);
  CommsOptions& options = comms_.options;
  add_choices(verb, "--by", options.by, kCommsBy, "What separates the rows [comm,op]");
  add_sizes(verb, "--buckets", options.buckets,
            "Bounds of --by bucket [128,1K,8K,64K,256K,1M,32M]");
  add_duration(verb, "--interval", options.interval_ns, "Length of a row of --by time [1s]");
  add_format(verb, options.format);
  add_wide(verb, comms_.wide);
  add_limit(verb, options.limit, "Rows to print [all]");
  CommsFilter& filter = comms_.filter;
  add_list(verb, "--comm", filter.comm, "Communicators, by either of their names");
  add_list(verb, "--mpi", filter.mpi, "MPI functions");
  add_list(verb, "--rank", filter.rank, "Ranks that called");
  add_list(verb, "--host", filter.host, "Hosts of the ranks that called");
  const Words kinds = names_of_all<kMpiKinds>();
  add_list(verb, "--kind", filter.kind, "Kinds of operations", joined(kinds).c_str())
      ->check(one_of("--kind", kinds));
  add_time(verb, "--from", filter.from_ns, "Calls that start at TIME of the run or later");
  add_time(verb, "--to", filter.to_ns, "Calls that start before TIME");
}

void Grammar::add_waits() {
  CLI::App& verb = add_verb("waits", "Who waits for whom, and whose work it comes from", waits_);
  add_data(verb, waits_.data);
  add_job(verb, waits_.data);
  WaitsOptions& options = waits_.options;
  add_choice(verb, "--by", options.by, kWaitsBy,
             "What separates the rows besides their kind [all]");
  add_duration(verb, "--interval", options.interval_ns, "With --by time: length of a row [1s]");
  add_format(verb, options.format);
  add_wide(verb, waits_.wide);
  add_limit(verb, options.limit,
            "Rows of each table [10 of delays and of the critical path, else all]");
  WaitsFilter& filter = waits_.filter;
  add_list(verb, "--rank", filter.rank, "Ranks that waited, or were waited for");
  add_list(verb, "--host", filter.host, "Hosts of the ranks that waited, or were waited for");
  add_list(verb, "--comm", filter.comm, "Communicators, by either of their names");
  add_list(verb, "--mpi", filter.mpi, "MPI functions that waited");
  add_list(verb, "--kind", filter.kind, "Kinds of waits")
      ->check(one_of("--kind", names_of_all<kAllWaitKinds>()));
  add_time(verb, "--from", filter.from_ns, "Waits that begin at TIME of the run or later");
  add_time(verb, "--to", filter.to_ns, "Waits that begin before TIME");
}

void Grammar::add_simulate() {
  CLI::App& verb =
      add_verb("simulate", "How long the run would take if parts of it were different", simulate_);
  add_data(verb, simulate_.data);
  add_job(verb, simulate_.data);
  Hypotheses& hypotheses = simulate_.hypotheses;
  add_hypothesis(
      verb, "--faster", "WHAT=FACTOR",
      "An MPI function, compute, or what is computed before a call site takes 1/FACTOR of "
      "its time; WHAT@RANKS: on these ranks",
      [&hypotheses](const std::string& text) { hypotheses.faster.push_back(parse_faster(text)); });
  add_hypothesis(verb, "--balance", "run|phases|RANKS",
                 "Each rank computes as long as the mean of all ranks, over the run or between "
                 "synchronisations; or only these ranks do",
                 [&hypotheses](const std::string& text) { parse_balance(text, hypotheses); });
  add_hypothesis(verb, "--network", "TRANSPORT=latency:TIME,bandwidth:SIZE",
                 "Messages over TRANSPORT, or over all, take this latency plus their length at "
                 "SIZE per second",
                 [&hypotheses](const std::string& text) {
                   hypotheses.network.push_back(parse_network(text));
                 });
  add_choice(verb, "--partitions-even", hypotheses.even_partitions, kEvenPartitions,
             "The threads of a sender make their last partitions ready at the same time, or all "
             "partitions become ready at the same time");
  add_format(verb, simulate_.options.format);
  add_wide(verb, simulate_.wide);
  add_limit(verb, simulate_.options.limit, "Ranks to print [all]");
}

void Grammar::add_counters() {
  CLI::App& verb =
      add_verb("counters", "Who sent how much to whom, while a job runs or after", counters_);
  add_path(verb, "DIR", counters_.folder, "",
           fmt::format("Folder with the data [{}]", kDefaultFolderText));
  add_choice(verb, "--by", counters_.options.by, kCountersBy, "Which table [all]");
  add_format(verb, counters_.options.format);
  add_wide(verb, counters_.wide);
  add_limit(verb, counters_.options.limit, "Rows of each table [all]");
  add_path(verb, "--prof", counters_.prof, "PREFIX",
           "Write PREFIX.RANK.prof, as Open MPI's monitoring does, instead of tables");
  add_path(verb, "--gather", counters_.gather, "FILE", "Write all these profiles into one file");
  add_path(verb, "--matrices", counters_.matrices, "PREFIX",
           "Write symmetric matrices of messages, bytes and average size for each class");
  add_path(verb, "--directed", counters_.directed, "PREFIX",
           "Write these matrices with a row for each sender");
  add_number(verb, "--every", counters_.every_s,
             "Do it again every N seconds, and at SIGUSR1, until the job has ended")
      ->check(within("--every", 1, kMostSeconds));
  add_job(verb, counters_.job, "A job of the folder other than the newest");
}

void Grammar::add_top() {
  CLI::App& verb =
      add_verb("top", "Messages and bytes per second of a job that counts, live", top_);
  add_path(verb, "DIR", top_.folder, "",
           fmt::format("Folder with the data [{}]", kDefaultFolderText));
  add_choice(verb, "--by", top_.options.by, kCountersBy, "Which table [all]");
  add_duration(verb, "--interval", top_.interval_ns, "Time between two readings [2s]");
  verb.add_flag("--once", top_.once,
                "Read twice, print and end; always so if the output is no terminal");
  add_format(verb, top_.options.format);
  add_wide(verb, top_.wide);
  add_limit(verb, top_.options.limit, "Rows of each table [all]");
  add_job(verb, top_.job, "A job of the folder other than the newest");
}

void Grammar::add_partitions() {
  CLI::App& verb = add_verb(
      "partitions", "Partitioned messages: when each partition was ready and arrived", partitions_);
  add_data(verb, partitions_.data);
  add_job(verb, partitions_.data);
  add_choice(verb, "--list", partitions_.options.list, kPartitionsLists, "Which list [requests]");
  add_format(verb, partitions_.options.format);
  add_wide(verb, partitions_.wide);
  add_limit(verb, partitions_.options.limit, "Rows to print [all]");
}

void Grammar::add_placement() {
  CLI::App& verb =
      add_verb("placement", "Which nodes and cores the ranks should run on", placement_);
  add_data(verb, placement_.data);
  add_job(verb, placement_.data);
  PlacementOptions& options = placement_.options;
  add_choice(verb, "--by", options.wish.by, kPlacementBy,
             "What the matrix has for each pair of ranks [bytes]");
  add_number(verb, "--slots", options.wish.slots,
             "Ranks that each node takes [as many as ran there]");
  add_path(verb, "--topology", options.wish.topology, "FILE",
           "The cores of each node, from lstopo --of xml FILE [what is known of it]");
  verb.add_option_function<std::string>(
          "--cost",
          [&options](const std::string& text) { options.wish.costs = parse_level_costs(text); },
          "What it costs to be apart by LEVEL [node=100,package=10,core=1]")
      ->check(not_empty("--cost"))
      ->type_name("LEVEL=N");
  add_path(verb, "--write", options.write, "DIR",
           "New folder for files that launchers read [none]");
  add_choice(verb, "--format", options.format, kTableOrJson, "How to print [table]");
  add_wide(verb, placement_.wide);
  add_limit(verb, options.limit, "Ranks to print [all]");
}

void Grammar::add_hang() {
  CLI::App& verb = add_verb("hang", "Where each rank of a job that hangs or died waits", hang_);
  add_data(verb, hang_.data);
  add_job(verb, hang_.data);
  add_format(verb, hang_.options.format);
  add_wide(verb, hang_.wide);
  add_limit(verb, hang_.options.limit, "Rows of each list [all]");
}

void Grammar::add_info() {
  CLI::App& verb = add_verb("info", "The run, and whether its accounts balance", info_);
  add_data(verb, info_.data);
  add_job(verb, info_.data);
  add_choice(verb, "--list", info_.options.list, kInfoLists, "Which list [all]");
  add_format(verb, info_.options.format);
  add_wide(verb, info_.wide);
  add_limit(verb, info_.options.limit, "Rows of each list [all]");
}

void Grammar::add_export() {
  CLI::App& verb = add_verb("export", "Write the run in a format that other tools read", export_);
  add_data(verb, export_.data);
  add_job(verb, export_.data);
  add_choice(verb, "--to", export_.to, kExportTo, "Which format");
  add_path(verb, "-o,--output", export_.output, "PATH",
           "A new folder (otf2, csv) or file [DIR.otf2, DIR.perfetto-trace, DIR.csv]");
  add_choice(verb, "--p2p-mirror", export_.p2p_mirror, kP2pMirrors,
             "For otf2: the call that has the sends of partitioned communication [last-pready]");
}

}  // namespace uctrace::cli
