// The verbs with their options, and the structs that the options fill. The one place that says
// which options there are: parsing, help, manual pages and completion all follow from it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command-line/command_line.hpp"

namespace uctrace::cli {

struct Verb {
  std::string name;
  std::unique_ptr<CLI::App> app;
  std::function<Command()> result;  // the parsed options, after app->parse()
};

class Grammar {
 public:
  Grammar();
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  std::vector<Verb>& verbs() { return verbs_; }
  // A verb that takes a program besides its options.
  RecordCommand& record() { return record_; }
  CheckCommand& check() { return check_; }

 private:
  template <typename Result>
  CLI::App& add_verb(const std::string& name, const std::string& summary, Result& result) {
    auto app = std::make_unique<CLI::App>(summary, "uctrace " + name);
    app->get_help_ptr()->description("Print this help");
    app->allow_extras();
    verbs_.push_back({name, std::move(app), [&result] { return Command(result); }});
    return *verbs_.back().app;
  }

  void add_check();
  void add_record();
  void add_merge();
  void add_report();
  void add_messages();
  void add_diff();
  void add_comms();
  void add_waits();
  void add_simulate();
  void add_partitions();
  void add_counters();
  void add_top();
  void add_serve();
  void add_placement();
  void add_hang();
  void add_info();
  void add_view();
  void add_export();
  void add_build_ucx();

  CheckCommand check_;
  RecordCommand record_;
  MergeCommand merge_;
  ReportCommand report_;
  MessagesCommand messages_;
  DiffCommand diff_;
  CommsCommand comms_;
  WaitsCommand waits_;
  SimulateCommand simulate_;
  PartitionsCommand partitions_;
  CountersCommand counters_;
  TopCommand top_;
  ServeCommand serve_;
  PlacementCommand placement_;
  HangCommand hang_;
  InfoCommand info_;
  ViewCommand view_;
  ExportCommand export_;
  BuildUcxCommand build_ucx_;
  std::vector<Verb> verbs_;
};

}  // namespace uctrace::cli
