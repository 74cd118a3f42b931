#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "cli/suggestion.hpp"
#include "event-log/version.hpp"
#include "log-merger/error.hpp"

namespace uctrace::cli {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kUsage =
    R"(uctrace shows where the bytes of a UCX or MPI job really went.

  uctrace record [-o DIR] [-v] -- COMMAND...   run a job and record it
  uctrace report [DIR]                         tables: transports, MPI functions, rank pairs
  uctrace messages [DIR]                       each message and the path its data took
  uctrace info [DIR]                           the run, and whether its accounts balance
  uctrace view [DIR]                           one web page, which opens without a server
  uctrace merge [DIR]                          merge the logs (the others do it when needed)
  uctrace help [VERB] | version                DIR is uctrace.data if left out

Examples:
  uctrace record -- mpirun -np 4 ./app
  uctrace report --mpi MPI_Allreduce --by pairs
  uctrace messages --src 0 --dst 1 --min-bytes 65536
  uctrace view && xdg-open uctrace.data/report.html
)";

constexpr const char* kChoosing = "Choose messages and transfers";

template <typename Value>
using Choices = std::map<std::string, Value>;

const Choices<Format> kFormats = {{"table", Format::table},
                                  {"csv", Format::csv},
                                  {"json", Format::json},
                                  {"ndjson", Format::ndjson}};
const Choices<Format> kInfoFormats = {{"table", Format::table}, {"json", Format::json}};
const Choices<ReportBy> kReportBy = {{"contenders", ReportBy::contenders},
                                     {"mpi", ReportBy::mpi},
                                     {"pairs", ReportBy::pairs},
                                     {"all", ReportBy::all}};

// Shows the names alone: the numbers behind them mean nothing to a user.
template <typename Value>
void add_choice(CLI::App& verb, const std::string& option, Value& value,
                const Choices<Value>& choices, const std::string& help) {
  std::string names;
  for (const auto& choice : choices) names += (names.empty() ? "" : "|") + choice.first;
  verb.add_option_function<std::string>(
          option, [&value, &choices](const std::string& name) { value = choices.at(name); }, help)
      ->check(CLI::Validator(
          [names, &choices](std::string& name) {
            return choices.contains(name) ? "" : fmt::format("'{}' is not {}", name, names);
          },
          ""))
      ->type_name(names);
}

void add_data(CLI::App& verb, DataChoice& data) {
  verb.add_option("DIR", data.folder, fmt::format("Folder with the data [{}]", kDefaultFolder))
      ->type_name("");
}

void add_job(CLI::App& verb, DataChoice& data) {
  verb.add_option("--job", data.job, "Another than the newest job of the folder")->type_name("JOB");
}

// CLI11 takes "-1" for a very large number, and its own check tells the greatest one in full.
CLI::Validator not_negative() {
  return {[](std::string& number) {
            return number.starts_with('-') ? fmt::format("'{}' is less than 0", number) : "";
          },
          ""};
}

void add_limit(CLI::App& verb, std::optional<std::size_t>& limit, const std::string& help) {
  verb.add_option("--limit", limit, help)->check(not_negative())->type_name("N");
}

void add_filter(CLI::App& verb, FilterSpec& filter) {
  const auto list = [&](const char* option, Words& values, const char* help) {
    verb.add_option(option, values, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B")
        ->group(kChoosing);
  };
  const auto number = [&](const char* option, std::optional<std::uint64_t>& value,
                          const char* help) {
    verb.add_option(option, value, help)->check(not_negative())->type_name("N")->group(kChoosing);
  };
  list("--mpi", filter.mpi, "MPI functions that asked");
  list("--comm", filter.comm, "Communicators");
  list("--protocol", filter.protocol, "UCP protocols");
  list("--src", filter.src, "Source ranks: where the data lay");
  list("--dst", filter.dst, "Destination ranks: where it went");
  list("--host", filter.host, "Hosts, of either end");
  list("--transport", filter.transport, "UCT transports on the path");
  list("--op", filter.op, "UCT operations on the path");
  list("--role", filter.role, "data, control, staging");
  number("--min-bytes", filter.min_bytes, "Least payload of a message");
  number("--max-bytes", filter.max_bytes, "Greatest payload of a message");
}

// The verbs with their options, and the structs that the options fill.
class Grammar {
 public:
  Grammar();
  Command parse(const Words& arguments);

 private:
  struct Verb {
    std::string name;
    std::unique_ptr<CLI::App> app;
    std::function<Command()> result;
  };

  template <typename Result>
  CLI::App& add_verb(const std::string& name, const std::string& help, Result& result) {
    auto app = std::make_unique<CLI::App>(help, "uctrace " + name);
    app->get_formatter()->column_width(34);
    app->allow_extras();
    verbs_.push_back({name, std::move(app), [&result] { return Command(result); }});
    return *verbs_.back().app;
  }

  void add_record();
  void add_reading_verbs();
  Verb& find_verb(const std::string& name);
  Command parse_record(Verb& verb, Words arguments);
  Command help(const Words& words);

  RecordCommand record_;
  MergeCommand merge_;
  ReportCommand report_;
  MessagesCommand messages_;
  InfoCommand info_;
  ViewCommand view_;
  std::vector<Verb> verbs_;
};

Grammar::Grammar() {
  add_record();
  add_reading_verbs();
}

void Grammar::add_record() {
  CLI::App& verb = add_verb("record", "Run a job and record it.", record_);
  verb.footer("The command follows, best behind --:\n  uctrace record -- mpirun -np 4 ./app\n");
  verb.prefix_command();
  verb.add_option(
          "-o,--output", record_.folder,
          fmt::format("Folder for the data, older data moves to DIR.old [{}]", kDefaultFolder))
      ->type_name("DIR");
  verb.add_flag("-v,--verbose", record_.verbose,
                "Say what is set up and what each process recorded");
}

void Grammar::add_reading_verbs() {
  CLI::App& merge = add_verb("merge", "Merge the logs of a run into DIR/run.h5.", merge_);
  add_data(merge, merge_.data);

  CLI::App& report = add_verb("report", "Tables: transports, MPI functions, rank pairs.", report_);
  add_data(report, report_.data);
  add_job(report, report_.data);
  add_choice(report, "--by", report_.options.by, kReportBy, "Which table [all]");
  add_choice(report, "--format", report_.options.format, kFormats, "How to print [table]");
  add_limit(report, report_.options.limit, "Rows of each table [all]");
  report.add_flag_callback(
      "--internal", [this] { report_.options.without_message = WithoutMessage::counted; },
      "Count transfers that serve no message, too");
  add_filter(report, report_.filter);

  CLI::App& messages = add_verb("messages", "Each message and the path its data took.", messages_);
  add_data(messages, messages_.data);
  add_job(messages, messages_.data);
  add_choice(messages, "--format", messages_.format, kFormats, "How to print [table]");
  add_limit(messages, messages_.limit, "Number of messages [all]");
  add_filter(messages, messages_.filter);

  CLI::App& info = add_verb("info", "The run, and whether its accounts balance.", info_);
  add_data(info, info_.data);
  add_job(info, info_.data);
  add_choice(info, "--format", info_.format, kInfoFormats, "How to print [table]");

  CLI::App& view = add_verb("view", "Write one web page, which opens without a server.", view_);
  add_data(view, view_.data);
  add_job(view, view_.data);
  view.add_option("-o,--output", view_.output, "The page [DIR/report.html]")->type_name("FILE");
}

[[noreturn]] void refuse(const std::string& what, const std::string& why,
                         const std::string& nearest, const std::string& help) {
  throw Error({.what = what,
               .why = why,
               .to_do = nearest.empty()
                            ? fmt::format("see `{}`", help)
                            : fmt::format("did you mean '{}'? See `{}`", nearest, help)});
}

Grammar::Verb& Grammar::find_verb(const std::string& name) {
  Words names = {"help", "version"};
  for (Verb& verb : verbs_) {
    if (verb.name == name) return verb;
    names.push_back(verb.name);
  }
  const char* kind = name.starts_with('-') ? "option" : "verb";
  refuse(name, fmt::format("no such {}", kind), nearest_word(name, names), "uctrace help");
}

void refuse_leftover(const std::string& verb, const CLI::App& app, const std::string& word) {
  const std::string help = "uctrace help " + verb;
  if (!word.starts_with('-')) refuse(word, "not expected after the other arguments", "", help);
  Words known = {"--help"};
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  refuse(word, fmt::format("`uctrace {}` has no such option", verb),
         nearest_word(word.substr(0, word.find('=')), known), help);
}

// False: help was asked for.
bool fill(const std::string& verb, CLI::App& app, Words arguments) {
  try {
    std::reverse(arguments.begin(), arguments.end());  // the order that parse() takes them from
    app.parse(std::move(arguments));
    return true;
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    refuse("uctrace " + verb, error.what(), "", "uctrace help " + verb);
  }
}

Command Grammar::parse_record(Verb& verb, Words arguments) {
  // Everything behind the first "--" is the program's, unless the program began before it and the
  // "--" is its own.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const Words behind(dashes == arguments.end() ? dashes : dashes + 1, arguments.end());
  const bool has_dashes = dashes != arguments.end();
  arguments.erase(dashes, arguments.end());
  if (!fill(verb.name, *verb.app, std::move(arguments))) return PrintCommand{verb.app->help()};
  record_.program = verb.app->remaining();
  if (!record_.program.empty()) {
    if (record_.program.front().starts_with('-')) {
      refuse_leftover(verb.name, *verb.app, record_.program.front());
    }
    if (has_dashes) record_.program.push_back("--");
  }
  record_.program.insert(record_.program.end(), behind.begin(), behind.end());
  if (record_.program.empty()) {
    refuse("uctrace record", "there is no command to run", "", "uctrace help record");
  }
  return verb.result();
}

Command Grammar::help(const Words& words) {
  if (words.empty()) return PrintCommand{kUsage};
  return PrintCommand{find_verb(words.front()).app->help()};
}

Command Grammar::parse(const Words& arguments) {
  if (arguments.empty()) return PrintCommand{kUsage};
  const std::string& name = arguments.front();
  const Words rest(arguments.begin() + 1, arguments.end());
  if (name == "help" || name == "--help" || name == "-h") return help(rest);
  if (name == "version" || name == "--version") {
    return PrintCommand{fmt::format("uctrace {}\n", log::kToolVersion)};
  }
  Verb& verb = find_verb(name);
  if (name == "record") return parse_record(verb, rest);
  if (!fill(name, *verb.app, rest)) return PrintCommand{verb.app->help()};
  const Words leftover = verb.app->remaining();
  if (!leftover.empty()) refuse_leftover(name, *verb.app, leftover.front());
  return verb.result();
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
  return Grammar().parse(arguments);
}

}  // namespace uctrace::cli
