// The profile of a run: in profile.db, read back with SQLite, and in the tables of `uctrace comms`.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "event-log/reader/error.hpp"
#include "log-merger/reports/comms.hpp"
#include "log-merger/store/profile_db.hpp"
#include "log-merger/summaries/profile_identities.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kWorld = 0, kHalf = 1;

std::int32_t add_communicator(Run& run, const char* name, std::uint32_t size) {
  Communicator comm;
  comm.name = run.texts.intern(name);
  comm.world = 0;
  comm.size = size;
  comm.first_member = static_cast<std::uint32_t>(run.communicator_members.size());
  comm.members = 1;
  run.communicator_members.push_back({false, 0, 1, size});
  run.communicators.push_back(comm);
  return static_cast<std::int32_t>(run.communicators.size()) - 1;
}

std::uint32_t add_call(Run& run, const char* function, std::uint32_t process, std::int32_t comm,
                       std::int64_t start_ns, std::int64_t ns, std::uint64_t bytes = 0) {
  MpiCallRow call;
  call.process = process;
  call.function = run.texts.intern(function);
  call.communicator = comm;
  call.t_start_ns = start_ns;
  call.t_end_ns = start_ns + ns;
  call.bytes = call.recv_bytes = bytes;
  run.mpi_calls.push_back(call);
  return static_cast<std::uint32_t>(run.mpi_calls.size()) - 1;
}

// Four processes that add up 3 times on all and, two of them, 5 times on a half.
Run listing() {
  Run run;
  run.info_json = R"({"mpi":{"library":"Open MPI v4.1.4"},"clock":{"max_error_ns":7}})";
  run.command = "mpirun -np 4 ./it's \"quoted\"";
  add_processes(run, 4);
  for (Process& process : run.processes) {
    process.world = 0;
    process.world_size = 4;
  }
  CHECK(add_communicator(run, "W0.0", 4) == kWorld);
  CHECK(add_communicator(run, "s0.1", 2) == kHalf);
  run.communicators[kHalf].user_name = run.texts.intern("half");
  for (std::uint32_t p = 0; p < 4; ++p) {
    add_call(run, "MPI_Init", p, -1, 0, 1000);
    for (int i = 0; i < 3; ++i) add_call(run, "MPI_Allreduce", p, kWorld, 2000, 100 + p, 2048);
    for (int i = 0; p < 2 && i < 5; ++i) add_call(run, "MPI_Allreduce", p, kHalf, 5000, 10, 512);
    add_call(run, "MPI_Finalize", p, -1, 9000, 1000);
  }
  return run;
}

class Database {
 public:
  explicit Database(const Run& run)
      : path_(fs::temp_directory_path() / ("uctrace-profile-" + std::to_string(::getpid()))) {
    save_profile(run, path_);
    REQUIRE(sqlite3_open(path_.c_str(), &file_) == SQLITE_OK);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    sqlite3_close(file_);
    fs::remove(path_);
  }

  // Rows of texts, with a bar between the columns.
  std::vector<std::string> ask(const char* sql) {
    std::vector<std::string> rows;
    const auto take = [](void* rows, int columns, char** values, char**) {
      std::string row;
      for (int i = 0; i < columns; ++i) {
        row += (i == 0 ? "" : "|") + std::string(values[i] == nullptr ? "NULL" : values[i]);
      }
      static_cast<std::vector<std::string>*>(rows)->push_back(row);
      return 0;
    };
    REQUIRE(sqlite3_exec(file_, sql, take, &rows, nullptr) == SQLITE_OK);
    return rows;
  }

 private:
  fs::path path_;
  sqlite3* file_ = nullptr;
};

using Rows = std::vector<std::string>;

TEST_CASE("profile.db has mpisee's sums") {
  Database database(listing());
  const Rows data = database.ask(
      "SELECT name, operation, rank, buffer_size_min, buffer_size_max, calls, volume FROM data d "
      "JOIN comms c ON c.id = comm_id JOIN operations o ON o.id = operation_id "
      "WHERE operation = 'Allreduce' ORDER BY comm_id, rank");
  CHECK(data == Rows{"W0.0|Allreduce|0|1024|8192|3|6144", "W0.0|Allreduce|1|1024|8192|3|6144",
                     "W0.0|Allreduce|2|1024|8192|3|6144", "W0.0|Allreduce|3|1024|8192|3|6144",
                     "s0.1|Allreduce|0|128|1024|5|2560", "s0.1|Allreduce|1|128|1024|5|2560"});
  CHECK(database.ask("SELECT * FROM comms") == Rows{"1|W0.0|4", "2|s0.1|2", "3|-|1"});
  CHECK(database.ask("SELECT count(*) FROM data WHERE comm_id = 3") == Rows{"0"});
  CHECK(database.ask("SELECT id, time > 9.9e-6, time < 10.1e-6 FROM exectimes") ==
        Rows{"0|1|1", "1|1|1", "2|1|1", "3|1|1"});
  CHECK(database.ask("SELECT value FROM metadata WHERE key IN ('Processes', 'MPI Library', "
                     "'Run command', 'clock error ns') ORDER BY key") ==
        Rows{"Open MPI v4.1.4", "4", "mpirun -np 4 ./it's \"quoted\"", "7"});
  CHECK(database.ask("PRAGMA foreign_key_check").empty());
  CHECK(database.ask("PRAGMA integrity_check") == Rows{"ok"});
}

TEST_CASE("operations stand within their class, so that the script's limits hold") {
  Run run = listing();
  for (const char* function : {"MPI_Sendrecv_replace", "MPI_Waitsome", "MPI_Win_lock",
                               "MPI_Comm_split", "MPI_Iallreduce_c", "MPI_File_open"}) {
    add_call(run, function, 0, kWorld, 7000, 1);
  }
  Database database(run);
  CHECK(database.ask("SELECT id, operation FROM operations WHERE id = 0") == Rows{"0|Send"});
  const auto between = [&](const std::string& name, const char* first, const char* last) {
    const auto id = [](const char* of) {
      return "(SELECT id FROM operations WHERE operation = '" + std::string(of) + "')";
    };
    const std::string sql =
        "SELECT " + id(name.c_str()) + " BETWEEN " + id(first) + " AND " + id(last);
    CAPTURE(name);
    CHECK(database.ask(sql.c_str()) == Rows{"1"});
  };
  between("Sendrecv_replace", "Bsend", "Ibsend");
  between("Waitsome", "Win_test", "Bcast");
  between("Win_lock", "Win_test", "Bcast");
  CHECK(database.ask("SELECT min(id) > (SELECT id FROM operations WHERE operation = 'Init_thread') "
                     "FROM operations WHERE operation IN ('Comm_split', 'Iallreduce_c', "
                     "'File_open')") == Rows{"1"});
  CHECK(database.ask("SELECT count(*) FROM operations") == Rows{"83"});  // Finalize is the 83rd
}

TEST_CASE("shares of a wait are on their communicators, and it counts as one call") {
  Run run = listing();
  const std::uint32_t wait = add_call(run, "MPI_Waitall", 1, -1, 6000, 100);
  run.wait_shares = {{wait, kWorld, 2, 30}, {wait, kHalf, 1, 70}};
  Database database(run);
  CHECK(database.ask("SELECT c.name, d.calls, round(d.time * 1e9) FROM data d JOIN comms c "
                     "ON c.id = comm_id JOIN operations o ON o.id = operation_id "
                     "WHERE operation = 'Waitall' ORDER BY c.id") ==
        Rows{"W0.0|0|30.0", "s0.1|1|70.0"});
  CHECK(database.ask("SELECT sum(calls) FROM calls") == Rows{std::to_string(run.mpi_calls.size())});
}

TEST_CASE("transfers are under the communicator and the operation that asked") {
  Run run = listing();
  Message message;
  message.src = message.src_process = 0;
  message.dst = message.dst_process = 1;
  message.communicator = kHalf;
  message.call = 4;
  message.mpi = run.texts.intern("MPI_Allreduce");
  message.bytes = 500;
  message.hops = 1;
  Hop hop;
  hop.transport = run.texts.intern("posix");
  hop.device = run.texts.intern("memory");
  hop.op = run.texts.intern("am_bcopy");
  hop.count = 2;
  hop.payload_bytes = 500;
  hop.wire_bytes = 520;
  run.messages = {message, message};
  run.hops = {hop};
  run.messages[1].call = -1;  // nobody asked
  Database database(run);
  CHECK(database.ask("SELECT name, operation, rank, peer, transport, device, role, transfers, "
                     "bytes, wire_bytes FROM transports t JOIN comms c ON c.id = comm_id "
                     "JOIN operations o ON o.id = operation_id") ==
        Rows{"s0.1|Allreduce|0|1|posix|memory|data|2|500|520"});
  CHECK(database.ask("SELECT rank, peer, messages, bytes FROM peers") == Rows{"0|1|1|500"});
}

TEST_CASE("identities of the profile tell what it has lost") {
  Run run = listing();
  const std::uint32_t wait = add_call(run, "MPI_Waitall", 1, -1, 6000, 100);
  run.wait_shares = {{wait, kWorld, 2, 30}, {wait, kHalf, 1, 70}};
  Message message;
  message.call = 4;
  message.hops = 1;
  run.messages = {message};
  run.hops.emplace_back().payload_bytes = 500;
  Transfer transfer;
  transfer.message = 0;
  transfer.payload_bytes = 300;
  run.transfers = {transfer, transfer};
  run.transfers[1].payload_bytes = 200;
  const auto violated = [](const Run& run, const Profile& profile) {
    std::vector<std::string> names;
    for (const Identity& identity : profile_identities(run, profile)) {
      if (identity.result == Verdict::violated) names.push_back(identity.name);
    }
    return names;
  };
  const Profile profile = profile_of(run);
  CHECK(violated(run, profile).empty());
  Profile lost = profile;
  --lost.calls.back().calls;
  CHECK(violated(run, lost) == Rows{"profile_calls"});
  Profile without = profile;
  without.transfers.clear();
  CHECK(violated(run, without) == Rows{"profile_bytes"});
  run.wait_shares[1].ns = 60;
  CHECK(violated(run, profile_of(run)) == Rows{"profile_time"});
}

TEST_CASE("ranks of a later world have numbers of their own") {
  Run run = listing();
  run.processes[3].rank = 0;
  run.processes[3].world = 1;
  run.processes[3].world_size = 1;
  Database database(run);
  CHECK(database.ask("SELECT id, world, rank FROM processes") ==
        Rows{"0|0|0", "1|0|1", "2|0|2", "4|1|0"});
  CHECK(database.ask("PRAGMA foreign_key_check").empty());
}

TEST_CASE("a run without MPI has a profile without rows") {
  Run run;
  run.info_json = "{}";
  add_processes(run, 2);
  Database database(run);
  CHECK(database.ask("SELECT count(*) FROM data") == Rows{"0"});
  CHECK(database.ask("SELECT id, time > 0 FROM exectimes") == Rows{"0|1", "1|1"});
}

TEST_CASE("a profile that cannot be written says so and leaves nothing") {
  CHECK_THROWS_WITH_AS(save_profile(listing(), "/nonexistent/profile.db"),
                       doctest::Contains("cannot write the profile"), Error);
}

// --- uctrace comms

Table table_of(const Run& run, std::vector<CommsBy> by, const CommsFilter& filter = {}) {
  CommsOptions options;
  options.by = std::move(by);
  return comms_table(run, filter, options);
}

// The rows that a filter with these values selects.
template <typename Change>
CommsFilter filter_with(Change change) {
  CommsFilter filter;
  change(filter);
  return filter;
}

std::string cell(const Table& table, std::size_t row, const char* key) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].key != key) continue;
    const Cell& found = table.rows.at(row).at(i);
    if (const auto* number = std::get_if<std::uint64_t>(&found)) return std::to_string(*number);
    if (const auto* text = std::get_if<std::string>(&found)) return *text;
    return "-";
  }
  return "no such column";
}

TEST_CASE("comms sums by communicator and operation, the longest first") {
  const Run run = listing();
  CommsFilter filter;
  filter.kind = {"collective"};
  const Table table = table_of(run, {CommsBy::comm, CommsBy::op}, filter);
  REQUIRE(table.rows.size() == 2);
  CHECK(cell(table, 0, "comm") == "W0.0");
  CHECK(cell(table, 0, "calls") == "12");
  CHECK(cell(table, 0, "sent_bytes") == "24576");
  CHECK(cell(table, 0, "time_ns") == "1218");
  CHECK(cell(table, 0, "mean_ns") == "304");
  CHECK(cell(table, 0, "min_ns") == "300");
  CHECK(cell(table, 0, "min_rank") == "0");
  CHECK(cell(table, 0, "max_ns") == "309");
  CHECK(cell(table, 0, "max_rank") == "3");
  CHECK(cell(table, 1, "comm") == "s0.1");
  CHECK(cell(table, 1, "user_name") == "half");
  CHECK(cell(table, 1, "size") == "2");
  CHECK(cell(table, 1, "calls") == "10");
}

TEST_CASE("comms chooses by either name, by rank, host and time, and refuses what is not there") {
  const Run run = listing();
  const auto calls = [&](const CommsFilter& filter) {
    const Table table = table_of(run, {}, filter);
    return table.rows.empty() ? "0" : cell(table, 0, "calls");
  };
  CHECK(calls({}) == "22");  // start and end of MPI stand apart
  CHECK(calls(filter_with([](CommsFilter& f) { f.comm = {"half"}; })) == "10");
  CHECK(calls(filter_with([](CommsFilter& f) { f.comm = {"s0.1"}; })) == "10");
  CHECK(calls(filter_with([](CommsFilter& f) {
          f.comm = {"W0.0"};
          f.mpi = {"MPI_Init"};
        })) == "4");
  CHECK(calls(filter_with([](CommsFilter& f) { f.rank = {"0", "3"}; })) == "11");
  CHECK(calls(filter_with([](CommsFilter& f) {
          f.rank = {"0"};
          f.host = {"odd"};
        })) == "0");
  CHECK(calls(filter_with([](CommsFilter& f) {
          f.from_ns = 5000;
          f.to_ns = 9000;
        })) == "10");
  CHECK_THROWS_AS(table_of(run, {}, filter_with([](CommsFilter& f) { f.comm = {"s9.9"}; })), Error);
  CHECK_THROWS_AS(table_of(run, {}, filter_with([](CommsFilter& f) { f.rank = {"17"}; })), Error);
}

TEST_CASE("comms has rows by bucket, rank and time in their order") {
  const Run run = listing();
  const Table buckets = table_of(run, {CommsBy::bucket},
                                 filter_with([](CommsFilter& f) { f.mpi = {"MPI_Allreduce"}; }));
  REQUIRE(buckets.rows.size() == 2);
  CHECK(cell(buckets, 0, "from_bytes") == "128");
  CHECK(cell(buckets, 0, "below_bytes") == "1024");
  CHECK(cell(buckets, 0, "calls") == "10");
  CHECK(cell(buckets, 1, "calls") == "12");
  CommsOptions options;
  options.by = {CommsBy::time};
  options.interval_ns = 1000;
  const Table times = comms_table(run, {}, options);
  REQUIRE(times.rows.size() == 2);
  CHECK(cell(times, 1, "from_ns") == "5000");
  CHECK(cell(times, 1, "calls") == "10");
  const Table ranks = table_of(run, {CommsBy::rank});
  CHECK(cell(ranks, 0, "max_rank") == "no such column");
  CHECK(cell(ranks, 0, "rank") == "1");  // the one that took longest
}

}  // namespace
}  // namespace uctrace
