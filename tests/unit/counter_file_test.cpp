// Reading counter files: made word by word here, and compared with naive sums.
#include "event-log/reader/counter_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include "event-log/reader/counter_matrix.hpp"

using namespace uctrace;
using namespace uctrace::log;

namespace {

// The RankRun of the ranks 0, 2 and 4.
const std::vector<std::uint64_t> kEven = {std::uint64_t{2} << 32, 3};

class FileMaker {
 public:
  FileMaker() {
    page_.magic = kCounterMagic;
    page_.version = kCounterVersion;
    page_.page_bytes = kCounterPageBytes;
    page_.world_rank = 3;
    page_.world_size = 8;
    page_.storage = Storage::mapped;
    std::strcpy(page_.host, "here");
  }
  CounterPage& page() { return page_; }

  void add_rows(const std::vector<CounterRow>& rows, std::size_t empty = 2) {
    std::vector<std::uint64_t> words(empty * 4);
    for (const CounterRow& row : rows) {
      for (const std::uint64_t word : {row.key, row.messages, row.bytes, row.reserved}) {
        words.push_back(word);
      }
    }
    add_section(CounterSectionKind::rows, std::move(words));
  }
  void add_names(std::vector<std::uint64_t> words) {
    add_section(CounterSectionKind::names, std::move(words));
  }
  static void add_name(std::vector<std::uint64_t>& to, CounterNameKind kind, std::uint32_t number,
                       std::uint64_t value, const std::string& text = "") {
    std::vector<std::uint64_t> words((text.size() + 7) / 8);
    std::memcpy(words.data(), text.data(), text.size());
    add_name(to, kind, number, value, words);
  }
  static void add_name(std::vector<std::uint64_t>& to, CounterNameKind kind, std::uint32_t number,
                       std::uint64_t value, const std::vector<std::uint64_t>& words) {
    const CounterName name{kind, 0, static_cast<std::uint16_t>(words.size()), number, value};
    std::uint64_t lead[2];
    std::memcpy(lead, &name, sizeof lead);
    to.insert(to.end(), {lead[0], lead[1]});
    to.insert(to.end(), words.begin(), words.end());
  }

  std::vector<std::uint64_t> words() const {
    std::vector<std::uint64_t> all(kCounterPageBytes / 8);
    all.insert(all.end(), sections_.begin(), sections_.end());
    CounterPage page = page_;
    if (page.written_bytes == 0) page.written_bytes = all.size() * 8;
    std::memcpy(all.data(), &page, sizeof page);
    return all;
  }

 private:
  void add_section(CounterSectionKind kind, std::vector<std::uint64_t> words) {
    words.resize((words.size() + 7) / 8 * 8);
    CounterSection section{};
    section.magic = kCounterSectionMagic;
    section.kind = kind;
    section.bytes = sizeof section + words.size() * 8;
    std::uint64_t lead[8];
    std::memcpy(lead, &section, sizeof lead);
    sections_.insert(sections_.end(), lead, lead + 8);
    sections_.insert(sections_.end(), words.begin(), words.end());
  }

  CounterPage page_{};
  std::vector<std::uint64_t> sections_;
};

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<std::uint64_t>& words) {
    char name[] = "/tmp/uctrace-counters-XXXXXX";
    close(mkstemp(name));
    path_ = name;
    write(words);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  void write(const std::vector<std::uint64_t>& words) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()),
               static_cast<std::streamsize>(words.size() * 8));
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

CounterSnapshot read(const FileMaker& maker) {
  const TemporaryFile file(maker.words());
  return CounterFile(file.path()).read();
}

}  // namespace

TEST_CASE("counters: size bins are those of the paper") {
  CHECK(size_bin(0) == 0);
  CHECK(size_bin(1) == 1);
  CHECK(size_bin(2) == 2);
  CHECK(size_bin(3) == 2);
  CHECK(size_bin(4) == 3);
  CHECK(size_bin(65536) == 17);
  CHECK(size_bin(UINT64_MAX) == 64);
}

TEST_CASE("counters: keys say what they were made of") {
  const CounterKey key = counter_key(CounterKind::internal, 65, kNamedPeer | 99'999);
  CHECK(kind_of(key) == CounterKind::internal);
  CHECK(bin_of(key) == 65);
  CHECK(subject_of(key) == (kNamedPeer | 99'999));
  CHECK(subject_of(counter_key(CounterKind::external, 3, kUnknownPeer)) == kUnknownPeer);
}

TEST_CASE("counters: rows of one key are summed, over sections and threads") {
  std::mt19937_64 random(7);
  FileMaker maker;
  std::map<CounterKey, CounterTotal> expected;
  for (int section = 0; section < 5; ++section) {
    std::vector<CounterRow> rows;
    for (int i = 0; i < 200; ++i) {
      const CounterKey key =
          counter_key(CounterKind::external, random() % kSizeBins, random() % 20);
      rows.push_back({key, random() % 1000, random() % 1'000'000, 0});
      expected[key] += {rows.back().messages, rows.back().bytes};
    }
    maker.add_rows(rows, section);
  }
  const CounterSnapshot snapshot = read(maker);
  CHECK(snapshot.rows == expected);
  CHECK(snapshot.row_count == 1000);
  CHECK(snapshot.rank() == 3);
  CHECK(snapshot.host() == "here");
}

TEST_CASE("counters: numbers wrap at 2^64") {
  FileMaker maker;
  const CounterKey key = counter_key(CounterKind::external, 1, 0);
  maker.add_rows({{key, UINT64_MAX, UINT64_MAX - 1, 0}, {key, 3, 3, 0}});
  CHECK(read(maker).rows.at(key) == CounterTotal{2, 1});
}

TEST_CASE("counters: names") {
  FileMaker maker;
  std::vector<std::uint64_t> names;
  FileMaker::add_name(names, CounterNameKind::worker, 0, 0x1234);
  FileMaker::add_name(names, CounterNameKind::peer, 5, 0x77);
  FileMaker::add_name(names, CounterNameKind::interface, 2, 0, "tcp/eth0");
  FileMaker::add_name(names, CounterNameKind::mpi_function, 6, 0, "MPI_Send");
  FileMaker::add_name(names, CounterNameKind::communicator_label, 1, 0, "MPI_COMM_PARENT");
  FileMaker::add_name(names, CounterNameKind::communicator_label, 1, 0, "even ranks");
  FileMaker::add_name(names, CounterNameKind::communicator, 1, 3, kEven);
  FileMaker::add_name(names, CounterNameKind::communicator, 2, 9, kEven);
  const std::vector<std::uint64_t> gpu = {0x11, 0x22, 0x33, 0x44, std::uint64_t{0x10} << 32 | 5};
  FileMaker::add_name(names, CounterNameKind::gpu, 9, 1, gpu);
  FileMaker::add_name(names, CounterNameKind::gpu, 10, 1, std::vector<std::uint64_t>{1, 2});
  maker.add_names(names);
  const CounterSnapshot snapshot = read(maker);
  REQUIRE(snapshot.gpus.size() == 1);  // the other one has another size than a CounterGpu
  CHECK(snapshot.gpus.at(9).vendor == Vendor::cuda);
  CHECK(snapshot.gpus.at(9).facts.uuid[0] == 0x11);
  CHECK(snapshot.gpus.at(9).facts.gpu_uuid[8] == 0x44);
  CHECK(snapshot.gpus.at(9).facts.pci.domain == 5);
  CHECK(snapshot.gpus.at(9).facts.pci.bus == 0x10);
  CHECK(snapshot.workers == std::vector<std::uint64_t>{0x1234});
  CHECK(snapshot.peers.at(5) == 0x77);
  CHECK(snapshot.interfaces.at(2) == "tcp/eth0");
  CHECK(snapshot.functions.at(6) == "MPI_Send");
  const CountedCommunicator& even = snapshot.communicators.at(1);
  CHECK(even.label == "even ranks");
  CHECK(snapshot.spawned);  // whatever its parent is called now
  CHECK(even.members() == std::vector<std::int32_t>{0, 2, 4});
  CHECK_FALSE(snapshot.communicators.at(2).members_known);
}

TEST_CASE("counters: ranks of which there are none are missing") {
  const auto of = [](std::int32_t rank, std::int32_t size) {
    CounterSnapshot process;
    process.page.world_rank = rank;
    process.page.world_size = size;
    return process;
  };
  const auto check = [](const std::vector<CounterSnapshot>& job, std::size_t missing,
                        std::size_t all) {
    const MissingRanks found = missing_ranks(job);
    CHECK(found.missing == missing);
    CHECK(found.all == all);
  };
  check({}, 0, 0);
  check({of(-1, 0), of(-1, 4)}, 0, 0);  // before MPI_Init nobody knows
  check({of(0, 2), of(1, 2)}, 0, 2);
  check({of(1, 4), of(3, 4), of(3, 4), of(-1, 0)}, 2, 4);  // one replaced itself
  check({of(0, 2), of(1, 2), of(0, 3)}, 2, 5);             // spawned
  check({of(7, 4)}, 0, 0);
  CounterSnapshot begins = of(-1, 0);
  begins.page.launch_rank = 1;
  begins.page.launch_size = 2;
  check({of(0, 2), begins}, 0, 2);
}

TEST_CASE("counters: a file is read again while it grows") {
  FileMaker maker;
  const CounterKey key = counter_key(CounterKind::internal, 4, 2);
  maker.add_rows({{key, 5, 50, 0}});
  TemporaryFile file(maker.words());
  const CounterFile open(file.path());
  CHECK(open.read().rows.at(key) == CounterTotal{5, 50});
  maker.add_rows({{key, 1, 10, 0}});
  file.write(maker.words());
  CHECK(open.read().rows.at(key) == CounterTotal{6, 60});
}

TEST_CASE("counters: what is no counter file, or of another version, is refused") {
  const auto refused = [](FileMaker maker, std::string_view why) {
    const TemporaryFile file(maker.words());
    try {
      CounterFile(file.path()).read();
      FAIL("it was read");
    } catch (const FileError& error) {
      CHECK(error.message().find(why) != std::string::npos);
    }
  };
  FileMaker maker;
  maker.page().version = 99;
  refused(maker, "version 99");
  maker = {};
  maker.page().magic = 42;
  refused(maker, "not a counter file");
  maker = {};
  maker.page().magic = __builtin_bswap64(kCounterMagic);
  refused(maker, "byte order");
  maker = {};
  maker.page().magic = 0;
  refused(maker, "not begun");
  maker = {};
  maker.page().written_bytes = 1 << 20;
  refused(maker, "cut short");
  maker = {};
  maker.page().written_bytes = 8;
  refused(maker, "damaged");
  maker = {};
  maker.add_rows({{counter_key(CounterKind::external, 66, 0), 1, 1, 0}});
  refused(maker, "damaged");
  CHECK_THROWS_AS(CounterFile("/dev/null"), FileError);
  CHECK_THROWS_AS(CounterFile("/no/such"), FileError);
}

TEST_CASE("counters: a damaged word is never followed out of the file") {
  std::mt19937_64 random(11);
  FileMaker maker;
  std::vector<std::uint64_t> names;
  FileMaker::add_name(names, CounterNameKind::interface, 2, 0, "posix/memory");
  FileMaker::add_name(names, CounterNameKind::communicator, 1, 3, kEven);
  maker.add_names(names);
  maker.add_rows({{counter_key(CounterKind::external, 1, 0), 1, 1, 0}});
  const auto whole = maker.words();
  TemporaryFile file(whole);
  int read = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    auto words = whole;
    const std::size_t first = random() % 2 == 0 ? 0 : kCounterPageBytes / 8;
    words[first + random() % (words.size() - kCounterPageBytes / 8)] ^= std::uint64_t{1}
                                                                        << random() % 64;
    if (random() % 4 == 0) words.resize(random() % words.size());
    file.write(words);
    try {
      const CounterSnapshot snapshot = CounterFile(file.path()).read();
      ++read;
      for (const auto& [number, communicator] : snapshot.communicators) {
        for (const std::int32_t member : communicator.members()) CHECK(member >= 0);
      }
      const std::vector<CounterSnapshot> job = {snapshot};
      const CountedSides sides(job);
      const CounterMatrix matrix = matrix_of(job, sides);
      const SideNumbers numbers(job, sides, matrix);
      for (const auto& cells : matrix.cells) {
        for (const auto& [pair, cell] : cells) {
          CHECK(numbers.of(pair.first) >= 0);
          if (pair.second.is_known()) CHECK(numbers.of(pair.second) >= 0);
        }
      }
      if (numbers.size() < 1000) {
        square_of(matrix, numbers, {CounterClass::external}, MatrixOf::bytes, true);
      }
    } catch (const FileError&) {
      ++refused;
    }
  }
  CHECK(read > 0);
  CHECK(refused > 0);
}
