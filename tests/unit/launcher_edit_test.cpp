#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "launcher-line/edit.hpp"
#include "launcher-line/identify.hpp"

namespace uctrace::launcher {
namespace {

using Settings = std::map<std::string, std::string>;

// "a b" is two words; a word in () may hold blanks.
Words words_of(const std::string& text) {
  Words words;
  std::string word;
  bool quoted = false;
  for (const char c : text + " ") {
    if (c == '(' || c == ')') {
      quoted = c == '(';
    } else if (c != ' ' || quoted) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  }
  return words;
}

Lookup lookup(const Settings& settings) {
  return [&settings](const std::string& name) -> std::optional<std::string> {
    const auto found = settings.find(name);
    if (found == settings.end()) return std::nullopt;
    return found->second;
  };
}

const Wanted kWanted = {
    .libraries = {"/u/lib.so"}, .variables = {{"UCTRACE_DIR", "/d"}}, .copies = "/d/copy"};

Edit edit(Kind kind, const std::string& text, const Settings& environment = {},
          const Settings& files = {}) {
  const Words words = words_of(text);
  const Lookup variable = lookup(environment), file = lookup(files);
  return edit_line(words, kind, find_prefix(words), kWanted, {variable, file});
}

Settings set_by(const Edit& edit) {
  Settings settings;
  for (const Variable& variable : edit.environment) settings[variable.name] = variable.value;
  return settings;
}

struct Row {
  const char* typed;
  const char* edited;
  Settings environment = {};
};

void check_rows(Kind kind, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.typed);
    const Edit result = edit(kind, row.typed, row.environment);
    CHECK(result.unclear == "");
    CHECK(result.words == words_of(row.edited));
    CHECK(result.is_edited == (words_of(row.typed) != words_of(row.edited)));
  }
}

TEST_CASE("LD_PRELOAD: ours first, theirs kept, each once") {
  CHECK(preload_list({"/u/lib.so"}, "") == "/u/lib.so");
  CHECK(preload_list({"/u/lib.so"}, "a.so:b.so c.so") == "/u/lib.so:a.so:b.so c.so");
  CHECK(preload_list({"/u/lib.so"}, "a.so:/u/lib.so:b.so") == "/u/lib.so:a.so:b.so");
  CHECK(preload_list({"/u/lib.so", "/p/libuct.so.0"}, "/p/libuct.so.0:a.so") ==
        "/u/lib.so:/p/libuct.so.0:a.so");
  CHECK(set_by(edit(Kind::none, "./app", {{"LD_PRELOAD", "a.so"}})) ==
        Settings{{"LD_PRELOAD", "/u/lib.so:a.so"}, {"UCTRACE_DIR", "/d"}});
}

TEST_CASE("lines of Open MPI") {
  check_rows(
      Kind::open_mpi,
      {{"mpirun -np 4 ./app a b",
        "mpirun -x LD_PRELOAD=/u/lib.so -x UCTRACE_DIR=/d -np 4 ./app a b"},
       // A value in the environment is passed on with ours.
       {"mpirun ./app",
        "mpirun -x LD_PRELOAD=/u/lib.so:e.so -x UCTRACE_DIR=/d ./app",
        {{"LD_PRELOAD", "e.so"}}},
       {"mpirun -x LD_PRELOAD=foo.so ./app",
        "mpirun -x UCTRACE_DIR=/d -x LD_PRELOAD=/u/lib.so:foo.so ./app"},
       {"mpirun -x LD_PRELOAD --x A=1 ./app",
        "mpirun -x UCTRACE_DIR=/d -x LD_PRELOAD --x A=1 ./app"},
       // Options of the program are the program's.
       {"mpirun ./app -x LD_PRELOAD=foo.so",
        "mpirun -x LD_PRELOAD=/u/lib.so -x UCTRACE_DIR=/d ./app -x LD_PRELOAD=foo.so"},
       {"mpirun --mca pml ucx --host a:2,b -- ./app -x LD_PRELOAD=q",
        "mpirun -x LD_PRELOAD=/u/lib.so -x UCTRACE_DIR=/d --mca pml ucx --host a:2,b -- ./app "
        "-x LD_PRELOAD=q"},
       // Each part has its own -x.
       {"mpirun -np 1 ./a x : -np 2 -x LD_PRELOAD=foo.so ./b",
        "mpirun -x LD_PRELOAD=/u/lib.so -x UCTRACE_DIR=/d -np 1 ./a x : -x UCTRACE_DIR=/d -np 2 "
        "-x LD_PRELOAD=/u/lib.so:foo.so ./b"},
       // -x and the list cannot be mixed.
       {"mpirun --mca mca_base_env_list A=1;LD_PRELOAD=foo.so ./app",
        "mpirun --mca mca_base_env_list A=1;LD_PRELOAD=/u/lib.so:foo.so;UCTRACE_DIR=/d ./app"},
       {"mpirun --gmca mca_base_env_list A ./a : ./b",
        "mpirun --gmca mca_base_env_list A;LD_PRELOAD=/u/lib.so;UCTRACE_DIR=/d ./a : ./b"},
       // Open MPI 5 spells options with "=" too.
       {"mpirun --map-by=slot --x=LD_PRELOAD=foo.so ./app",
        "mpirun -x UCTRACE_DIR=/d --map-by=slot --x=LD_PRELOAD=/u/lib.so:foo.so ./app"},
       {"mpirun", "mpirun -x LD_PRELOAD=/u/lib.so -x UCTRACE_DIR=/d"}});

  const Edit listed = edit(Kind::open_mpi, "mpirun ./app", {{"OMPI_MCA_mca_base_env_list", "A=1"}});
  CHECK_FALSE(listed.is_edited);
  CHECK(set_by(listed)["OMPI_MCA_mca_base_env_list"] == "A=1;LD_PRELOAD=/u/lib.so;UCTRACE_DIR=/d");
}

TEST_CASE("Open MPI's app files and tune files") {
  const Edit app = edit(Kind::open_mpi, "mpirun --app f", {},
                        {{"f", "# both\n-np 1 ./a \"x y\"\n\n -np 2 -x LD_PRELOAD=q.so ./b\n"}});
  CHECK(app.words == words_of("mpirun --app /d/copy0"));
  REQUIRE(app.copies.size() == 1);
  CHECK(app.copies[0].path == "/d/copy0");
  CHECK(app.copies[0].text ==
        "# both\n-x LD_PRELOAD=/u/lib.so -x UCTRACE_DIR=/d -np 1 ./a \"x y\"\n\n"
        "-x UCTRACE_DIR=/d -np 2 -x LD_PRELOAD=/u/lib.so:q.so ./b\n");
  const Edit mixed =
      edit(Kind::open_mpi, "mpirun -x LD_PRELOAD=q.so --app f", {}, {{"f", "./a\n"}});
  CHECK(mixed.unclear.find("beside an app file") != mixed.unclear.npos);
  CHECK_FALSE(mixed.is_edited);

  const Edit tuned = edit(Kind::open_mpi, "mpirun --tune t ./app", {},
                          {{"t", "-x A=1 -x LD_PRELOAD='q.so'\n--mca btl self\n"}});
  CHECK(tuned.words ==
        words_of("mpirun -x LD_PRELOAD=/u/lib.so:q.so -x UCTRACE_DIR=/d --tune t ./app"));
  CHECK(edit(Kind::open_mpi, "mpirun --tune t ./app", {}, {{"t", "-mca mca_base_env_list A"}})
            .unclear != "");
  for (const char* line : {"mpirun --app none", "mpirun --tune none ./app"}) {
    CAPTURE(line);
    const Edit unread = edit(Kind::open_mpi, line);
    CHECK(unread.unclear != "");
    CHECK(unread.words == words_of(line));
  }
}

TEST_CASE("lines of Hydra") {
  check_rows(
      Kind::hydra,
      {{"mpiexec -n 4 ./app", "mpiexec -n 4 ./app"},
       {"mpiexec -genvall -n 4 ./app", "mpiexec -genvall -n 4 ./app"},
       {"mpiexec -genvnone -n 4 ./app -genv LD_PRELOAD q",
        "mpiexec -genv LD_PRELOAD /u/lib.so -genv UCTRACE_DIR /d -genvnone -n 4 ./app -genv "
        "LD_PRELOAD q"},
       {"mpiexec -n 1 ./a : -n 1 -envlist A,B ./b",
        "mpiexec -genv LD_PRELOAD /u/lib.so -genv UCTRACE_DIR /d -n 1 ./a : -n 1 -envlist A,B "
        "./b"},
       {"mpiexec -genv LD_PRELOAD q.so ./app", "mpiexec -genv LD_PRELOAD /u/lib.so:q.so ./app"},
       {"mpiexec -genvlist=A --genv LD_PRELOAD=q.so ./app",
        "mpiexec -genv UCTRACE_DIR /d -genvlist=A --genv LD_PRELOAD=/u/lib.so:q.so ./app"},
       {"mpiexec -n 1 -env LD_PRELOAD a.so ./a : -env LD_PRELOAD=b.so ./b",
        "mpiexec -n 1 -env LD_PRELOAD /u/lib.so:a.so ./a : -env LD_PRELOAD=/u/lib.so:b.so ./b"},
       {"mpiexec -n 2 ./app",
        "mpiexec -genv LD_PRELOAD /u/lib.so -genv UCTRACE_DIR /d -n 2 ./app",
        {{"HYDRA_ENV", "none"}}},
       // An unknown option does no harm where the whole environment is passed on.
       {"mpiexec -some-new-option x ./app", "mpiexec -some-new-option x ./app"}});
  CHECK(edit(Kind::hydra, "mpiexec -some-new-option -genvnone ./app").unclear != "");

  const Edit file = edit(Kind::hydra, "mpiexec -configfile c", {},
                         {{"c", "# one\n-n 1 -env LD_PRELOAD q.so  ./a\n-n 1 -envnone ./b\n"}});
  CHECK(file.words == words_of("mpiexec -genv LD_PRELOAD /u/lib.so -genv UCTRACE_DIR /d "
                               "-configfile /d/copy0"));
  REQUIRE(file.copies.size() == 1);
  CHECK(file.copies[0].text ==
        "# one\n-n 1 -env LD_PRELOAD /u/lib.so:q.so ./a\n-n 1 -envnone ./b\n");
  CHECK_FALSE(edit(Kind::hydra, "mpiexec -configfile c", {}, {{"c", "-n 1 ./a\n"}}).is_edited);
}

TEST_CASE("lines of srun") {
  check_rows(
      Kind::slurm,
      {{"srun -n 4 ./app --export=NONE", "srun -n 4 ./app --export=NONE"},
       {"srun --export=ALL -n4 ./app", "srun --export=ALL -n4 ./app"},
       {"srun --export=NONE -n4 ./app",
        "srun --export=LD_PRELOAD=/u/lib.so,UCTRACE_DIR=/d -n4 ./app"},
       {"srun --export A,B=1 -n 4 ./app",
        "srun --export A,B=1,LD_PRELOAD=/u/lib.so,UCTRACE_DIR=/d -n 4 ./app"},
       {"srun --exp=nil ./app", "srun --exp=LD_PRELOAD=/u/lib.so,UCTRACE_DIR=/d ./app"},
       {"srun --export=LD_PRELOAD=q.so,A ./app",
        "srun --export=LD_PRELOAD=/u/lib.so:q.so,A,UCTRACE_DIR=/d ./app"},
       {"srun --export=NONE --export=A ./app",
        "srun --export=NONE --export=A,LD_PRELOAD=/u/lib.so,UCTRACE_DIR=/d ./app"},
       {"srun --export=LD_PRELOAD ./app", "srun --export=LD_PRELOAD,UCTRACE_DIR=/d ./app"},
       {"srun -n1 --export=NONE ./a : -n 1 --label ./b",
        "srun -n1 --export=LD_PRELOAD=/u/lib.so,UCTRACE_DIR=/d ./a : -n 1 --label ./b"},
       {"srun --multi-prog -lv -n 2 conf",
        "srun --export=LD_PRELOAD=/u/lib.so,UCTRACE_DIR=/d --multi-prog -lv -n 2 conf",
        {{"SLURM_EXPORT_ENV", "NONE"}}},
       {"srun ./app", "srun ./app", {{"SLURM_EXPORT_ENV", "ALL"}}},
       {"srun --export=ALL ./app", "srun --export=ALL ./app", {{"SLURM_EXPORT_ENV", "NONE"}}},
       // Commas are srun's own: such a value comes from the environment.
       {"srun --export=A ./app",
        "srun --export=A,LD_PRELOAD,UCTRACE_DIR=/d ./app",
        {{"LD_PRELOAD", "a,b.so"}}}});
  // srun takes what a list with ALL sets only where the environment lacks it.
  const Edit all = edit(Kind::slurm, "srun --export=ALL,LD_PRELOAD=q.so ./app");
  CHECK(all.words == words_of("srun --export=ALL,LD_PRELOAD=/u/lib.so:q.so ./app"));
  CHECK(set_by(all)["LD_PRELOAD"] == "/u/lib.so:q.so");
  CHECK(set_by(edit(Kind::slurm, "srun --export=ALL,LD_PRELOAD=q.so ./app",
                    {{"LD_PRELOAD", "e.so"}}))["LD_PRELOAD"] == "/u/lib.so:e.so");
  CHECK(edit(Kind::slurm, "srun --some-new-option --export=NONE ./app").unclear != "");
  CHECK(edit(Kind::slurm, "srun --some-new-option ./app").unclear == "");
}

TEST_CASE("commands in front of a launcher") {
  const std::map<std::string, std::size_t> rows = {
      {"mpirun -np 4 ./app", 0},
      {"env A=1 B=2 mpirun", 3},
      {"/usr/bin/env -i -u A --unset=B A=1 mpirun", 6},
      {"env -- A=1 mpirun", 3},
      {"env -S (mpirun -np 2) x", 0},
      {"time -p mpirun", 2},
      {"/usr/bin/time -o f -v mpirun", 4},
      {"nice mpirun", 1},
      {"nice -n 5 mpirun", 3},
      {"nice -n5 mpirun", 2},
      {"nice -5 mpirun", 2},
      {"nohup setsid -w mpirun", 3},
      {"numactl -C 0 --membind=0 -l mpirun", 5},
      {"taskset -c 0,1 mpirun", 3},
      {"taskset 0x3 mpirun", 2},
      {"timeout -k 5 60 mpirun", 4},
      {"timeout --signal=INT 60 env A=1 mpirun", 5},
      {"timeout --unknown 60 mpirun", 0},
      {"stdbuf -oL mpirun", 2},
      {"timeout", 0},
      {"env", 0},
      {"env A=1", 0},
      {"nice -n", 0},
  };
  for (const auto& [line, command] : rows) {
    CAPTURE(line);
    CHECK(find_prefix(words_of(line)).command == command);
  }
}

TEST_CASE("an env in front decides on the launcher's environment") {
  check_rows(
      Kind::none,
      {{"env A=1 ./app", "env A=1 ./app"},
       {"env LD_PRELOAD=q.so ./app", "env LD_PRELOAD=/u/lib.so:q.so ./app", {{"LD_PRELOAD", "e"}}},
       {"env -i A=1 ./app",
        "env -i A=1 LD_PRELOAD=/u/lib.so UCTRACE_DIR=/d ./app",
        {{"LD_PRELOAD", "e"}}},
       {"env - ./app", "env - LD_PRELOAD=/u/lib.so UCTRACE_DIR=/d ./app"},
       {"env -u LD_PRELOAD nice ./app",
        "env -u LD_PRELOAD LD_PRELOAD=/u/lib.so nice ./app",
        {{"LD_PRELOAD", "e"}}}});
  check_rows(Kind::open_mpi,
             {{"env LD_PRELOAD=q.so mpirun ./app",
               "env LD_PRELOAD=/u/lib.so:q.so mpirun -x LD_PRELOAD=/u/lib.so:q.so -x "
               "UCTRACE_DIR=/d ./app"},
              {"timeout 9 env OMPI_MCA_mca_base_env_list=A mpirun ./app",
               "timeout 9 env OMPI_MCA_mca_base_env_list=A;LD_PRELOAD=/u/lib.so;UCTRACE_DIR=/d "
               "mpirun ./app"}});
  check_rows(Kind::slurm, {{"env SLURM_EXPORT_ENV=A srun ./app",
                            "env SLURM_EXPORT_ENV=A srun "
                            "--export=A,LD_PRELOAD=/u/lib.so,UCTRACE_DIR=/d ./app"}});
}

TEST_CASE("a line with an option that is not known is left alone") {
  for (const char* line : {"mpirun -some-new-option 3 ./app", "mpirun -np", "mpirun -x",
                           "mpirun --mca pml", "mpirun -np 1 ./a : -wdir", "mpirun -n1 ./a"}) {
    CAPTURE(line);
    const Edit result = edit(Kind::open_mpi, line);
    CHECK(result.unclear != "");
    CHECK(result.words == words_of(line));
    CHECK(set_by(result)["LD_PRELOAD"] == "/u/lib.so");
  }
}

// Removes what an edit may add: whole options with our values, and ours within the user's.
Words without_ours(Kind kind, const Words& edited) {
  Words words;
  const auto is_ours = [](const std::string& word) {
    return word == "LD_PRELOAD=/u/lib.so" || word == "UCTRACE_DIR=/d";
  };
  for (std::size_t i = 0; i < edited.size(); ++i) {
    std::string word = edited[i];
    if (kind == Kind::open_mpi && word == "-x" && i + 1 < edited.size() && is_ours(edited[i + 1])) {
      ++i;
      continue;
    }
    if (kind == Kind::hydra && word == "-genv" && i + 2 < edited.size() &&
        (is_ours(edited[i + 1] + "=" + edited[i + 2]))) {
      i += 2;
      continue;
    }
    for (const char* ours : {"/u/lib.so:", ";LD_PRELOAD=/u/lib.so", ",LD_PRELOAD=/u/lib.so",
                             ";UCTRACE_DIR=/d", ",UCTRACE_DIR=/d"}) {
      const std::size_t at = word.find(ours);
      if (at != std::string::npos) word.erase(at, std::string(ours).size());
    }
    if (!is_ours(word)) words.push_back(word);
  }
  return words;
}

TEST_CASE("taking out what was added gives back any line") {
  const std::map<Kind, const char*> vocabulary = {
      {Kind::open_mpi,
       "-np 4 -x A A=1 LD_PRELOAD=q.so LD_PRELOAD : --mca mca_base_env_list -H h ./app -- - -q "
       "--map-by=slot -odd (a b) env timeout -i"},
      {Kind::hydra,
       "-n 4 -genv -env A=1 LD_PRELOAD=q.so LD_PRELOAD q.so : -genvnone -envlist A,B -f -hosts "
       "./app -- - -odd (a b) env -i"},
      {Kind::slurm,
       "-n4 -n 4 --export=A --export=ALL,LD_PRELOAD=q.so --export A,LD_PRELOAD=q.so : -lv --label "
       "--odd ./app -- - -k -I5 (a b) nice"}};
  const Lookup nothing = [](const std::string&) { return std::nullopt; };
  std::mt19937 random(7);
  int edited = 0;
  for (const auto& [kind, text] : vocabulary) {
    const Words known = words_of(text);
    for (int round = 0; round < 20000; ++round) {
      Words words = {"launcher"};
      for (auto left = random() % 10; left > 0; --left) {
        words.push_back(known[random() % known.size()]);
      }
      const Edit result = edit_line(words, kind, find_prefix(words), kWanted, {nothing, nothing});
      std::string line;
      for (const std::string& word : words) line += "(" + word + ") ";
      CAPTURE(line);
      REQUIRE(without_ours(kind, result.words) == words);
      edited += result.is_edited;
    }
  }
  CHECK(edited > 10000);
}

TEST_CASE("a launcher is known by its name, by the file behind it, or by asking it") {
  int asked = 0;
  const auto kind = [&](const std::string& name, const std::string& file,
                        const std::string& version) {
    return identify(name, {[&](const std::string&) { return file; },
                           [&](const std::string&) {
                             ++asked;
                             return version;
                           }});
  };
  CHECK(kind("mpirun.openmpi", "", "") == Kind::open_mpi);
  CHECK(kind("oshrun", "/usr/bin/orterun", "") == Kind::open_mpi);
  CHECK(kind("/opt/x/bin/srun", "", "") == Kind::slurm);
  CHECK(kind("mpirun", "/usr/bin/orterun", "") == Kind::open_mpi);
  CHECK(kind("my-launcher", "/usr/bin/mpiexec.hydra", "") == Kind::hydra);
  CHECK(kind("./app", "/home/u/app", "Open MPI") == Kind::none);
  CHECK(kind("mpirun", "", "") == Kind::none);
  CHECK(asked == 1);
  CHECK(kind("mpirun", "/opt/ompi5/bin/mpirun", "mpirun (Open MPI) 5.0.3") == Kind::open_mpi);
  CHECK(kind("/opt/intel/bin/mpiexec", "/opt/intel/bin/mpiexec",
             "Intel(R) MPI Library for Linux* OS") == Kind::hydra);
  CHECK(kind("mpirun", "/opt/x/mpirun", "usage: mpirun") == Kind::none);
}

}  // namespace
}  // namespace uctrace::launcher
