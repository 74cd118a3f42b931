// Collective operations of UCC: what began them, the layers and algorithms that made them, and the
// UCP operations that are inferred to be for them, beside a plain search.
#include "log-merger/library/collectives.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "log-merger/library/library_calls.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;

enum Function : std::uint16_t { kContext = 1, kTeam, kInit, kPost, kFinalize };
constexpr std::uint64_t kUccWorker = 77, kOtherWorker = 78, kEndpointOf = 1000;

struct UccJob : JobBuilder {
  UccJob() : JobBuilder(2) {
    LibraryCalls& calls = log(0).library_calls;
    const char* const names[] = {"",
                                 "ucc_context_create",
                                 "ucc_team_create_post",
                                 "ucc_collective_init",
                                 "ucc_collective_post",
                                 "ucc_collective_finalize"};
    for (std::uint16_t i = kContext; i <= kFinalize; ++i) {
      calls.functions[i] = job.run.texts.intern(names[i]);
    }
    add(kContext, 10, 20);
    for (const auto& [handle, tick] : {std::pair{kUccWorker, 15u}, {kOtherWorker, 30u}}) {
      Worker worker;
      worker.handle = handle;
      worker.tick = tick;
      log(0).workers.push_back(worker);
      UcpEndpoint endpoint;
      endpoint.handle = handle + kEndpointOf;
      endpoint.tick = 50;
      endpoint.worker = handle;
      log(0).ucp_endpoints.push_back(endpoint);
    }
  }

  LibraryCall& add(Function function, std::uint64_t begin, std::uint64_t end,
                   std::uint64_t request = 0) {
    LibraryCall call;
    call.function = function;
    call.start_tick = begin;
    call.end_tick = end;
    call.request = request;
    if (function == kInit) call.operation = log::UccOperation::allreduce;
    return log(0).library_calls.calls.emplace_back(call);
  }

  UcpIndex put(std::uint64_t tick, std::uint64_t worker = kUccWorker) {
    const UcpIndex op = one_sided(log::UcpFunction::put_nbx, 0, 1, 0x1000, 8, tick);
    ucp(op).handle = worker + kEndpointOf;
    return op;
  }

  void link() {
    log(0).ucp_rows = {0, job.ucp.size()};
    link_library_calls(job);
  }

  const LibraryCalls& calls() { return log(0).library_calls; }
  // The start of the call that an operation is for; 0: none.
  std::uint64_t start_for(UcpIndex op) {
    const LibraryCallIndex call = ucp(op).library_call;
    return call == kNone ? 0 : calls().calls.at(call.place()).start_tick;
  }
};

// A place in the code as a stack of one address.
std::uint32_t add_maker(UccJob& from, const std::string& module, const std::string& function) {
  Run& run = from.job.run;
  CodeFrame frame;
  frame.module = run.texts.intern(module);
  frame.function = run.texts.intern(function);
  run.frames.push_back(frame);
  run.stack_frames.push_back({static_cast<std::uint32_t>(run.frames.size() - 1)});
  CallStack stack;
  stack.first_frame = static_cast<std::uint32_t>(run.stack_frames.size() - 1);
  stack.frames = 1;
  run.stacks.push_back(stack);
  const auto id = static_cast<std::uint32_t>(1000 + run.stacks.size());
  from.log(0).stack_rows[id] = StackIndex(run.stacks.size() - 1);
  return id;
}

}  // namespace

TEST_CASE("collectives: calls with a request belong to the newest call that made it") {
  UccJob job;
  job.add(kInit, 100, 110, 5);
  job.add(kPost, 120, 130, 5);
  job.add(kFinalize, 140, 150, 5);
  job.add(kInit, 200, 210, 5).lane =
      1;  // another operation with the same handle, on another thread
  job.add(kPost, 220, 230, 5);
  job.add(kPost, 240, 250, 6);  // begun before the log
  job.link();
  for (const LibraryCall& call : job.calls().calls) {
    CAPTURE(call.start_tick);
    const bool has_request = call.request == 5;
    REQUIRE((call.begun_by != kNone) == has_request);
    if (has_request) {
      CHECK(job.calls().beginning_of(call).start_tick == (call.start_tick < 200 ? 100 : 200));
    }
  }
}

TEST_CASE("collectives: an operation posted in between is for the only one in progress") {
  UccJob job;
  job.add(kInit, 100, 110, 5);
  job.add(kPost, 120, 130, 5);
  job.add(kInit, 131, 132, 6);
  job.add(kPost, 160, 170, 6);
  job.add(kFinalize, 180, 190, 5);
  job.add(kFinalize, 220, 230, 6);
  const UcpIndex within = job.put(125), before = job.put(115), alone = job.put(140),
                 two = job.put(175), second = job.put(200), after = job.put(300),
                 of_other = job.put(141, kOtherWorker);
  job.link();
  CHECK(job.start_for(within) == 120);
  CHECK_FALSE(job.ucp(within).library_inferred);
  CHECK(job.start_for(before) == 0);
  CHECK(job.start_for(alone) == 120);
  CHECK(job.ucp(alone).library_inferred);
  CHECK(job.start_for(two) == 0);
  CHECK(job.start_for(second) == 160);
  CHECK(job.start_for(after) == 0);
  CHECK(job.start_for(of_other) == 0);
  const LibraryCall& post = job.calls().calls.at(job.ucp(alone).library_call.place());
  CHECK(post.operations == 1);
  CHECK(post.inferred_operations == 1);
  CHECK(post.inferred_bytes == 8);
}

TEST_CASE(
    "collectives: a handle that comes again while its last call still runs is another request") {
  UccJob job;
  job.add(kInit, 100, 110, 5);
  job.add(kPost, 120, 130, 5);
  job.add(kInit, 135, 150, 5).lane = 1;  // begins before the other ends, and gets its handle
  job.add(kFinalize, 140, 145, 5);
  job.add(kPost, 160, 170, 5);
  const UcpIndex first = job.put(134), second = job.put(180);
  job.link();
  for (const LibraryCall& call : job.calls().calls) {
    if (call.ucc != UccCall::ends) continue;
    CHECK(job.calls().beginning_of(call).start_tick == 100);
  }
  CHECK(job.start_for(first) == 120);
  CHECK(job.start_for(second) == 160);
}

TEST_CASE("collectives: after its end a handle tells nothing, unless a call has made it again") {
  UccJob job;
  job.add(kInit, 100, 110, 5);
  job.add(kPost, 120, 130, 5);
  job.add(kFinalize, 140, 145, 5);
  job.add(kPost, 160, 170, 5);  // of a request whose beginning has no record
  const UcpIndex within = job.put(165), after = job.put(180);
  job.link();
  CHECK(job.calls().calls.at(job.ucp(within).library_call.place()).begun_by == kNone);
  CHECK(job.start_for(after) == 0);
  add_library_calls(job.job);
  CHECK(job.job.run.library_calls.back().bytes == -1);
}

TEST_CASE(
    "collectives: nothing is inferred while a team is made, in a gap, or on another thread's "
    "worker") {
  UccJob job;
  job.add(kInit, 100, 110, 5).scope = 1;
  job.add(kPost, 120, 130, 5);
  job.add(kTeam, 140, 150).scope = 2;
  job.add(kInit, 200, 210, 6).scope = 2;
  const UcpIndex before = job.put(135), meanwhile = job.put(160), later = job.put(220);
  Worker& other = job.log(0).workers[IndexOf<Worker>(1)];
  other.tick = 16;  // while the context is made, by another thread
  other.lane = 1;
  const UcpIndex of_other = job.put(136, kOtherWorker);
  SUBCASE("whole") {
    job.link();
    CHECK(job.start_for(before) == 120);
    CHECK(job.start_for(meanwhile) == 0);
    CHECK(job.start_for(later) == 120);
    CHECK(job.start_for(of_other) == 0);
  }
  SUBCASE("with a gap") {
    job.log(0).recorded.gaps.push_back({115, 118});
    job.link();
    for (const UcpIndex op : {before, meanwhile, later}) CHECK(job.start_for(op) == 0);
    const LibraryCall& post = job.calls().calls.at(2);
    CHECK(post.ucc == UccCall::starts);
    CHECK(post.begun_by == kNone);
  }
}

TEST_CASE("collectives: inferred as a plain search infers") {
  std::mt19937 random(20);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    UccJob job;
    struct Period {
      std::uint64_t begin, end;
    };
    std::vector<Period> periods;
    for (std::uint64_t request = 1; request <= 1 + random() % 5; ++request) {
      std::uint64_t tick = 100 + random() % 400;
      job.add(kInit, tick, tick, request);
      for (std::size_t posts = random() % 4; posts > 0; --posts) {
        tick += 1 + random() % 100;
        job.add(kPost, tick, tick, request);
        if (!periods.empty() && periods.back().end == 0) periods.back().end = tick;
        periods.push_back({tick, 0});
      }
      if (!periods.empty() && periods.back().end == 0) {
        const bool ends = random() % 4 != 0;
        periods.back().end = ends ? tick += 1 + random() % 100 : UINT64_MAX;
        if (ends) job.add(kFinalize, tick, tick, request);
      }
    }
    std::vector<UcpIndex> operations;
    for (std::uint64_t tick = 90; tick < 900; tick += 1 + random() % 20) {
      operations.push_back(job.put(2 * tick + 1));  // never at the tick of a call
    }
    for (LibraryCall& call : job.log(0).library_calls.calls) {
      if (call.function == kContext) continue;
      call.start_tick *= 2;
      call.end_tick *= 2;
    }
    job.link();
    for (const UcpIndex op : operations) {
      const std::uint64_t tick = job.ucp(op).start_tick;
      std::uint64_t expected = 0;
      std::size_t open = 0;
      for (const Period& period : periods) {
        const std::uint64_t end = period.end == UINT64_MAX ? UINT64_MAX : 2 * period.end;
        if (2 * period.begin <= tick && tick < end) {
          ++open;
          expected = 2 * period.begin;
        }
      }
      CHECK(job.start_for(op) == (open == 1 ? expected : 0));
    }
  }
}

TEST_CASE("collectives: layers and algorithms are those of the code that made the tasks") {
  struct Case {
    std::vector<std::pair<std::string, std::string>> makers;
    const char *layers, *algorithm;
  };
  const std::vector<Case> cases = {
      {{{"/opt/ucc/lib/ucc/libucc_tl_ucp.so.1.0.0", "ucc_tl_ucp_allreduce_knomial_init"}},
       "tl_ucp",
       "knomial"},
      {{{"libucc_tl_ucp.so", "ucc_tl_ucp_coll_init"}}, "tl_ucp", "default"},
      {{{"libucc_tl_sharp.so.1", "ucc_tl_sharp_allreduce_init"}}, "tl_sharp", "default"},
      {{{"libucc.so.1.0.0", "ucc_schedule_init"},
        {"libucc_tl_ucp.so", "ucc_tl_ucp_reduce_scatter_knomial_init_r"},
        {"libucc_tl_ucp.so", "ucc_tl_ucp_allgather_knomial_init_r"}},
       "tl_ucp",
       "reduce_scatter_knomial, allgather_knomial"},
      {{{"libucc_cl_hier.so.1", "ucc_cl_hier_allreduce_rab_init"},
        {"libucc_tl_shm.so.1", "ucc_tl_shm_reduce_init"}},
       "cl_hier, tl_shm",
       "rab, reduce"},
      {{{"libucc_tl_ucp.so", ""}}, "tl_ucp", ""},  // without symbols
      {{{"/usr/lib/libuccess.so", "ucc_tl_ucp_allreduce_knomial_init"}}, "", ""},
      {{}, "", ""},
  };
  for (const Case& given : cases) {
    UccJob job;
    LibraryCall& init = job.add(kInit, 100, 110, 5);
    for (std::size_t i = 0; i < given.makers.size(); ++i) {
      init.makers[i] = add_maker(job, given.makers[i].first, given.makers[i].second);
    }
    name_collectives(job.job);
    const LibraryCall& named = job.calls().calls.back();
    const Texts& texts = job.job.run.texts;
    CHECK(texts[named.collective] == "allreduce");
    CHECK(texts[named.layers] == given.layers);
    CHECK(texts[named.algorithm] == given.algorithm);
  }
}

}  // namespace uctrace::merge
