// An OTF2 archive: locations for the threads that call MPI, with the messages, and for UCP and UCT
// operations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "event-log/reader/error.hpp"
#include "log-merger/exports/formats.hpp"
#include "log-merger/exports/otf2_mpi_names.hpp"
#include "log-merger/exports/otf2_process.hpp"
#include "log-merger/exports/remarks.hpp"
#include "log-merger/folder/new_folder.hpp"

namespace uctrace::exports {
namespace {

std::vector<RowsToWrite> rows_to_write(const RowSource& source) {
  std::vector<RowsToWrite> rows(source.run().processes.size());
  const auto set = [&](RowsOfProcess RowsToWrite::*member,
                       const std::vector<RowsOfProcess>& of_table) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = of_table[i];
  };
  set(&RowsToWrite::mpi_calls, rows_of_processes<MpiCallRow>(source));
  set(&RowsToWrite::ucp_operations, rows_of_processes<UcpOperationRow>(source));
  set(&RowsToWrite::transfers, rows_of_processes<Transfer>(source));
  set(&RowsToWrite::waits, rows_of_processes<Wait>(source));
  set(&RowsToWrite::partition_events, rows_of_processes<PartitionEvent>(source));
  set(&RowsToWrite::begun_collectives, rows_of_processes<BegunCollective>(source));
  return rows;
}

constexpr OTF2_StringRef kNoString = OTF2_UNDEFINED_STRING;

class GlobalDefinitions {
 public:
  GlobalDefinitions(const Run& run, Otf2Archive& archive, Otf2Strings& strings)
      : run_(run), archive_(archive), strings_(strings), out_(archive.global_definitions()) {}

  // `ranks`: by process, the location that represents it for others.
  void write(const Otf2Regions& regions, const Otf2CallPaths& paths,
             const Otf2Communicators& communicators, const std::vector<std::uint64_t>& ranks) {
    name_all(communicators);
    for (OTF2_StringRef id = 0; id < strings_.all().size(); ++id) {
      check(OTF2_GlobalDefWriter_WriteString(out_, id, strings_.all()[id].c_str()));
    }
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(run_.last_ns, 0)) + 1;
    check(OTF2_GlobalDefWriter_WriteClockProperties(out_, 1'000'000'000, 0, length,
                                                    run_.epoch_realtime_ns));
    write_attributes();
    write_regions(regions);
    write_call_paths(paths);
    write_processes();
    write_communicators(communicators, ranks);
  }

 private:
  OTF2_StringRef id(std::string_view text) { return strings_.id_of(text); }

  // All texts are defined before their users.
  void name_all(const Otf2Communicators& communicators) {
    for (const char* text : {"", "machine", "node", "job", "MPI", "UCP", "UCT"}) id(text);
    for (const AttributeMeaning& attribute : kAttributes) {
      id(attribute.name);
      id(attribute.description);
    }
    for (const Process& process : run_.processes) {
      id(run_.texts[process.host]);
      id(name_of_process(run_, process));
    }
    for (const Otf2Location& location : archive_.locations()) id(location.name);
    for (const Otf2Communicators::Entry& comm : communicators.all()) id(comm.name);
  }

  void write_attributes() {
    for (const AttributeMeaning& attribute : kAttributes) {
      check(OTF2_GlobalDefWriter_WriteAttribute(
          out_, static_cast<OTF2_AttributeRef>(attribute.attribute), id(attribute.name),
          id(attribute.description), attribute.type));
    }
  }

  void write_regions(const Otf2Regions& regions) {
    OTF2_RegionRef number = 0;
    for (const auto& [name, layer] : regions.all()) {
      const char* const of = layer == Layer::mpi   ? "MPI"
                             : layer == Layer::ucp ? "UCP"
                             : layer == Layer::uct ? "UCT"
                                                   : "";
      const OTF2_Paradigm paradigm = layer == Layer::mpi       ? OTF2_PARADIGM_MPI
                                     : layer == Layer::program ? OTF2_PARADIGM_USER
                                     : layer == Layer::note    ? OTF2_PARADIGM_MEASUREMENT_SYSTEM
                                                               : OTF2_PARADIGM_UNKNOWN;
      check(OTF2_GlobalDefWriter_WriteRegion(out_, number++, name, name, id(of),
                                             role_of(strings_.all()[name], layer), paradigm,
                                             OTF2_REGION_FLAG_NONE, kNoString, 0, 0));
    }
  }

  void write_call_paths(const Otf2CallPaths& paths) {
    OTF2_SourceCodeLocationRef place = 0;
    for (const auto& [file, line] : paths.places()) {
      check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(out_, place++, file, line));
    }
    OTF2_CallingContextRef number = 0;
    for (const Otf2CallPaths::Context& context : paths.contexts()) {
      check(OTF2_GlobalDefWriter_WriteCallingContext(out_, number++, context.region, context.place,
                                                     context.parent));
    }
  }

  void write_processes() {
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(out_, 0, id("job"), id("machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    std::map<TextId, OTF2_SystemTreeNodeRef> nodes;
    OTF2_LocationGroupRef number = 0;
    for (const Process& process : run_.processes) {
      const auto [node, is_new] =
          nodes.try_emplace(process.host, static_cast<OTF2_SystemTreeNodeRef>(nodes.size() + 1));
      if (is_new) {
        check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
            out_, node->second, id(run_.texts[process.host]), id("node"), 0));
      }
      check(OTF2_GlobalDefWriter_WriteLocationGroup(
          out_, number++, id(name_of_process(run_, process)), OTF2_LOCATION_GROUP_TYPE_PROCESS,
          node->second, OTF2_UNDEFINED_LOCATION_GROUP));
    }
    OTF2_LocationRef location = 0;
    for (const Otf2Location& at : archive_.locations()) {
      check(OTF2_GlobalDefWriter_WriteLocation(out_, location++, id(at.name), at.type, at.events,
                                               at.process));
    }
  }

  void write_communicators(const Otf2Communicators& communicators,
                           const std::vector<std::uint64_t>& ranks) {
    check(OTF2_GlobalDefWriter_WriteGroup(out_, 0, id(""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                          static_cast<std::uint32_t>(ranks.size()), ranks.data()));
    OTF2_CommRef number = 0;
    for (const Otf2Communicators::Entry& comm : communicators.all()) {
      const OTF2_GroupRef group = number + 1;
      check(OTF2_GlobalDefWriter_WriteGroup(out_, group, id(comm.name), OTF2_GROUP_TYPE_COMM_GROUP,
                                            OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                            static_cast<std::uint32_t>(comm.members.size()),
                                            comm.members.data()));
      check(OTF2_GlobalDefWriter_WriteComm(out_, number, id(comm.name), group, comm.parent,
                                           OTF2_COMM_FLAG_NONE));
      check(OTF2_GlobalDefWriter_WriteRmaWin(out_, number, id(comm.name), number,
                                             OTF2_RMA_WIN_FLAG_NONE));
      ++number;
    }
  }

  const Run& run_;
  Otf2Archive& archive_;
  Otf2Strings& strings_;
  OTF2_GlobalDefWriter* out_;
};

// That of a group of all processes, at ten bytes each, or of a text, which may combine two texts of
// the run with a few words of ours.
std::uint64_t longest_definition(const Run& run) {
  std::size_t longest_text = 0;
  for (const std::string& text : run.texts.all())
    longest_text = std::max(longest_text, text.size());
  constexpr std::uint64_t kMore = 1024;
  return std::max<std::uint64_t>(10 * run.processes.size(), 2 * longest_text) + kMore;
}

void add_remarks(const Otf2Shared& shared, Remarks& remarks) {
  const auto add = [&](std::uint64_t count, const char* what, const char* is) {
    if (count != 0) remarks.push_back(fmt::format("{} {}", counted(count, what), is));
  };
  add(shared.without_time, "operation", "without a known start: not in the export");
  add(shared.not_returned, "MPI call", "that had not returned: they end with the run");
  add(shared.not_completed, "non-blocking collective operation",
      "of which it is not known which call completed it: without a completion record");
  add(shared.moved, "record", "moved behind the one before it: clocks are not that exact");
  add(shared.not_mirrored, "message", "of partitions without a send record: --p2p-mirror none");
  add(shared.not_at_start, "message",
      "of partitions of which the start is not known: in the call that made them ready");
}

// Even a reader that looks nowhere else finds here what is missing.
void describe(const Run& run, Otf2Archive& archive, const Remarks& remarks) {
  // For OTF2 an empty value removes a property, which must exist.
  const auto set = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    check(OTF2_Archive_SetProperty(archive.get(), name, value.c_str(), true));
  };
  set("UCTRACE::RUN_ID", run.run_id);
  set("UCTRACE::COMMAND", run.command);
  if (!run.partition_requests.empty()) set("MPIMON::PARTITIONED", "1");
  const bool complete = std::all_of(run.processes.begin(), run.processes.end(),
                                    [](const Process& process) { return process.complete; });
  set("UCTRACE::COMPLETE", complete ? "true" : "false");
  const std::string all = fmt::format("{}", fmt::join(remarks, "\n"));
  check(OTF2_Archive_SetDescription(archive.get(), all.c_str()));
}

}  // namespace

void require_otf2() {}

void write_otf2(const RowSource& source, const ExportOptions& options, Remarks& remarks) {
  const Run& run = source.run();
  NewFolder folder(options.path);
  Otf2Archive archive(folder.path(), longest_definition(run));
  Otf2Strings strings;
  Otf2Regions regions;
  Otf2CallPaths call_paths(run, strings, regions);
  const Otf2Communicators communicators(run);
  const MessagesOfProcesses messages_of(source, strings, folder.path());
  RowWindow<PartitionOperation> partition_operations(source, Wanted<PartitionOperation>::all());
  Otf2Shared shared{
      source,      options.p2p_mirror,  archive, strings, regions, call_paths, communicators,
      messages_of, partition_operations};
  const std::vector<RowsToWrite> rows = rows_to_write(source);
  std::vector<std::uint64_t> ranks;
  for (std::uint32_t i = 0; i < run.processes.size(); ++i) {
    ranks.push_back(Otf2Process(shared, i).write(rows[i]));
  }
  add_remarks(shared, remarks);
  describe(run, archive, remarks);
  archive.write_local_definitions();
  GlobalDefinitions(run, archive, strings).write(regions, call_paths, communicators, ranks);
  archive.close();
  folder.publish();
}

}  // namespace uctrace::exports
