// The verbs that show a run, or a job while it runs, to a browser or to other programs.
#include <fmt/format.h>

#include "cli/command-line/grammar.hpp"
#include "cli/command-line/option_kinds.hpp"
#include "cli/command-line/shared_options.hpp"

namespace uctrace::cli {

void Grammar::add_serve() {
  CLI::App& verb = add_verb("serve", "Counters of a job over HTTP, for Prometheus", serve_);
  add_path(verb, "DIR", serve_.folder, "",
           fmt::format("Folder with the data [{}]", kDefaultFolderText));
  verb.add_flag("--metrics", serve_.metrics, "Serve the counters as OpenMetrics text at /metrics");
  verb.add_option("--address", serve_.address, "Address to listen on [127.0.0.1]")
      ->check(not_empty("--address"))
      ->type_name("ADDRESS");
  add_number(verb, "--port", serve_.port, "Port; 0 for any free port [29464]");
  verb.add_flag("--wait", serve_.waits, "Start before the job does");
  add_number(verb, "--max-series", serve_.most_series,
             "At most N series of each kind (pairs of ranks, communicators, ...); serve sums the "
             "rest in one [10000]");
  add_job(verb, serve_.job, "Only this job of the folder [all that count]");
}

void Grammar::add_view() {
  CLI::App& verb = add_verb("view", "Write one web page, which opens without a server", view_);
  add_data(verb, view_.data);
  add_job(verb, view_.data);
  add_path(verb, "-o,--output", view_.output, "FILE",
           "The page, - for standard output [DIR/report.html]; with --tiles, the folder");
  add_path(verb, "--before", view_.before, "DIR",
           "Folder with the data of an earlier run, to compare with");
  verb.add_flag("--tiles", view_.tiles,
                "Write a folder: a page, and all operations in files that it loads when the reader "
                "zooms in; with --serve, make these files on request");
  verb.add_flag(
      "--serve", view_.serve,
      "Write no file; serve the page on this machine, and a page of each span on request");
  add_number(verb, "--port", view_.port, "Port of --serve [any that is free]");
  add_number(verb, "--limit", view_.limit,
             fmt::format("Operations in full detail [{}]; with --tiles, in each file [{}]",
                         kPageEvents, kTileOperations));
  add_span(verb, view_.page.from_ns, view_.page.to_ns);
}

}  // namespace uctrace::cli
