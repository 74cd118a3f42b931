// The source and target memory of each part of a message's path, and their order.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/legs.hpp"
#include "log-merger/summaries/memory_output.hpp"
#include "tests/unit/device_builder.hpp"
#include "tests/unit/message_at.hpp"

namespace uctrace::merge {
namespace {

using log::UctOp;
using test::add_driver;
using test::add_gpu;
using test::add_memory;
using test::JobBuilder;
using wire::AmId;

constexpr log::MemoryId kDevice = log::kFirstDeviceMemory;
constexpr std::uint64_t kBuffer = 0x10000, kFragment = 0x900000, kBytes = 5000;

// A message of 5000 bytes from a GPU of process 0 to another GPU of process 1. Its buffers have the
// same address, and so have the ids of their memory.
class OnTwoGpus {
 public:
  explicit OnTwoGpus(log::MemoryId sent = kDevice, log::MemoryId received = kDevice) {
    for (const int process : {0, 1}) {
      add_driver(builder, process);
      const Index gpu = add_gpu(builder, process == 0 ? "0000:10:00.0" : "0000:20:00.0");
      add_memory(builder, process, kDevice, gpu, kBuffer, kBytes);
      add_memory(builder, process, kDevice + 1, gpu, 0x50000, kBytes,
                 log::DeviceMemoryKind::managed);
      builder.log(process).interfaces[0].transport = builder.job.run.texts.intern("tcp");
    }
    send = builder.send(0, 1, 7, kBytes, 1);
    const UcpIndex receive = builder.receive(1, 7, kBytes, 1);
    builder.pair(send, receive);
    for (const UcpIndex op : {send, receive}) {
      builder.ucp(op).buffer = kBuffer;
      builder.ucp(op).bytes = kBytes;
    }
    builder.ucp(send).memory.own = sent;
    builder.ucp(receive).memory.own = received;
  }

  // All serve the message.
  UctIndex served(UctIndex op) {
    builder.uct(op).serves = send;
    builder.uct(op).link = Link::exact;
    return op;
  }
  UctIndex data(Rank from, UctOp kind, std::uint64_t remote, log::MemoryId local, std::int64_t at) {
    const UctIndex op =
        served(builder.memory_operation(from, from.other(), kind, remote, kBytes, at));
    builder.uct(op).memory.local = local;
    return op;
  }
  UctIndex message(Rank from, AmId id, std::uint64_t bytes, std::int64_t at,
                   std::initializer_list<std::uint64_t> header) {
    return served(builder.active_message(from, from.other(), id, bytes, at, header));
  }
  // A copy within a process.
  UctIndex copy(Rank process, UctOp kind, log::TransferMemory memory, std::int64_t at) {
    const UctIndex op =
        served(builder.memory_operation(process, process, kind, kBuffer, kBytes, at));
    builder.uct(op).staging = true;
    builder.uct(op).memory = memory;
    return op;
  }

  // "0 am_bcopy staging host -> gpu 1", the control messages left out.
  std::vector<std::string> way() {
    build_rows(builder.job);
    std::vector<std::string> steps;
    for (const Hop& hop : builder.job.run.hops) {
      if (hop.role == Role::control) continue;
      steps.push_back(std::to_string(hop.hop) + ' ' + builder.job.run.texts[hop.op] + ' ' +
                      name_of(hop.role) + ' ' + place(hop.from()) + " -> " + place(hop.to()));
    }
    return steps;
  }

  JobBuilder builder{2};
  UcpIndex send;

 private:
  static std::string place(MemoryPlace place) {
    const std::string kind = name_of(place.kind);
    return place.gpu < 0 ? kind : kind + ' ' + std::to_string(place.gpu);
  }
};

using Way = std::vector<std::string>;

TEST_CASE("eager: copied inside the pack function, sent, and copied by the handler") {
  OnTwoGpus job;
  job.message(0, AmId::eager_only, kBytes + 8, 3, {7});
  job.copy(0, UctOp::get_short, {log::kHostMemory, kDevice}, 4);
  job.copy(1, UctOp::put_short, {log::kHostMemory, kDevice}, 6);
  CHECK(job.way() == Way{"0 get_short staging gpu 0 -> host", "1 am_bcopy data host -> host",
                         "2 put_short staging host -> gpu 1"});
  const Message& message = job.builder.job.run.messages[0];
  CHECK(message.src_place() == MemoryPlace{MemoryKind::gpu, 0});
  CHECK(message.dst_place() == MemoryPlace{MemoryKind::gpu, 1});
}

TEST_CASE("staged on one side alone") {
  SUBCASE("to the host") {
    OnTwoGpus job(kDevice, log::kHostMemory);
    job.message(0, AmId::eager_only, kBytes + 8, 3, {7});
    job.copy(0, UctOp::get_short, {log::kHostMemory, kDevice}, 4);
    CHECK(job.way() == Way{"0 get_short staging gpu 0 -> host", "1 am_bcopy data host -> host"});
  }
  SUBCASE("from the host") {
    OnTwoGpus job(log::kHostMemory, kDevice);
    job.message(0, AmId::eager_only, kBytes + 8, 3, {7});
    job.copy(1, UctOp::put_short, {log::kHostMemory, kDevice}, 4);
    CHECK(job.way() == Way{"0 am_bcopy data host -> host", "1 put_short staging host -> gpu 1"});
  }
}

TEST_CASE("a rendezvous over fragments of UCX on both sides") {
  OnTwoGpus job;
  job.message(0, AmId::rndv_rts, 54, 2, {7, 1, 2, kBuffer, kBytes});
  job.message(1, AmId::rndv_rtr, 54, 3, {2, 3, kFragment, kBytes, 0});
  job.copy(0, UctOp::get_zcopy, {log::kHostMemory, kDevice}, 4);
  job.data(0, UctOp::put_zcopy, kFragment, log::kHostMemory, 5);
  job.copy(1, UctOp::put_zcopy, {log::kHostMemory, kDevice}, 6);
  CHECK(job.way() == Way{"0 get_zcopy staging gpu 0 -> host", "1 put_zcopy data host -> host",
                         "2 put_zcopy staging host -> gpu 1"});
  for (const Hop& hop : job.builder.job.run.hops) {
    if (hop.role != Role::control) continue;
    CHECK(hop.hop == 1);
    CHECK(hop.from() == kHostPlace);
  }
}

TEST_CASE("fragments that lie on a GPU") {
  OnTwoGpus job(kDevice, kDevice);
  add_memory(job.builder, 1, kDevice + 2, 1, kFragment, kBytes);
  job.message(0, AmId::rndv_rts, 54, 2, {7, 1, 2, kBuffer, kBytes});
  job.message(1, AmId::rndv_rtr, 54, 3, {2, 3, kFragment, kBytes, 0});
  job.data(0, UctOp::put_zcopy, kFragment, kDevice, 5);
  job.copy(1, UctOp::put_zcopy, {kDevice + 2, kDevice}, 6);
  CHECK(job.way() == Way{"0 put_zcopy data gpu 0 -> gpu 1", "1 put_zcopy staging gpu 1 -> gpu 1"});
}

TEST_CASE("from GPU to GPU without a copy") {
  SUBCASE("written by the sender") {
    OnTwoGpus job;
    job.message(0, AmId::rndv_rts, 54, 2, {7, 1, 2, kBuffer, kBytes});
    job.message(1, AmId::rndv_rtr, 54, 3, {2, 3, kBuffer, kBytes, 0});
    job.data(0, UctOp::put_zcopy, kBuffer, kDevice, 5);
    CHECK(job.way() == Way{"0 put_zcopy data gpu 0 -> gpu 1"});
  }
  SUBCASE("fetched by the receiver, whose memory is not told with the operation") {
    OnTwoGpus job(kDevice, kDevice + 1);
    job.message(0, AmId::rndv_rts, 54, 2, {7, 1, 2, kBuffer, kBytes});
    job.data(1, UctOp::get_zcopy, kBuffer, log::kMemoryNotAsked, 5);
    CHECK(job.way() == Way{"0 get_zcopy data gpu 0 -> managed 1"});
  }
}

TEST_CASE("copied straight into memory of the receiver that both have mapped") {
  OnTwoGpus job;
  job.message(0, AmId::rndv_rts, 54, 2, {7, 1, 2, kBuffer, kBytes});
  job.message(1, AmId::rndv_rtr, 54, 3, {2, 3, kFragment, kBytes, 0});
  Interface accelerator = job.builder.log(0).interfaces[0];
  accelerator.id = 2;
  accelerator.device_type = log::DeviceType::accelerator;
  job.builder.log(0).interfaces.push_back(accelerator);
  const UctIndex copy = job.copy(0, UctOp::get_zcopy, {log::kHostMemory, kDevice}, 4);
  job.builder.uct(copy).interface = InterfaceIndex(1);
  job.copy(1, UctOp::put_zcopy, {log::kHostMemory, kDevice}, 6);
  CHECK(job.way() == Way{"0 get_zcopy data gpu 0 -> host", "1 put_zcopy staging host -> gpu 1"});
}

TEST_CASE("copies that disagree where they leave the data tell nothing of what takes it there") {
  OnTwoGpus job;
  job.message(0, AmId::eager_only, kBytes + 8, 3, {7});
  job.copy(0, UctOp::get_short, {log::kHostMemory, kDevice}, 4);
  job.copy(0, UctOp::get_short, {kDevice + 1, kDevice}, 5);
  CHECK(job.way().back() == "1 am_bcopy data unknown -> gpu 1");
}

TEST_CASE("a process that sends to itself") {
  OnTwoGpus job;
  JobBuilder& builder = job.builder;
  const UcpIndex receive = builder.ucp(job.send).partner;
  builder.ucp(receive).process = ProcessIndex(0);
  builder.ucp(job.send).peer_process = ProcessIndex(0);
  const UctIndex message = builder.active_message(0, 0, AmId::eager_only, kBytes + 8, 3, {7});
  job.served(message);
  job.copy(0, UctOp::get_short, {log::kHostMemory, kDevice}, 4);
  job.copy(0, UctOp::put_short, {log::kHostMemory, kDevice}, 5);
  CHECK(job.way() == Way{"0 get_short staging gpu 0 -> host", "1 am_bcopy data host -> host",
                         "2 put_short staging host -> gpu 0"});
}

TEST_CASE("over a network, the way leads through the cards of both hosts") {
  OnTwoGpus job;
  JobBuilder& builder = job.builder;
  Texts& texts = builder.job.run.texts;
  for (const int process : {0, 1}) {
    Interface& interface = builder.log(process).interfaces[0];
    interface.device_type = log::DeviceType::network;
    interface.device = texts.intern(process == 0 ? "eth0" : "eth1");
  }
  const auto put = [&] {
    job.message(0, AmId::rndv_rts, 54, 2, {7, 1, 2, kBuffer, kBytes});
    job.message(1, AmId::rndv_rtr, 54, 3, {2, 3, kBuffer, kBytes, 0});
    return job.data(0, UctOp::put_zcopy, kBuffer, kDevice, 5);
  };
  const auto get = [&] {
    job.message(0, AmId::rndv_rts, 54, 2, {7, 1, 2, kBuffer, kBytes});
    return job.data(1, UctOp::get_zcopy, kBuffer, kDevice, 5);
  };
  const auto reaches = [&](Rank process, UctIndex op, const char* device) {
    builder.log(process).endpoints[builder.uct(op).endpoint_row].remote_device =
        texts.intern(device);
  };
  SUBCASE("written by the source") { reaches(0, put(), "eth1"); }
  SUBCASE("fetched by the destination") { reaches(1, get(), "eth0"); }
  build_rows(builder.job);
  const Run& run = builder.job.run;
  CHECK(legs_text(run, run.messages[0], path_of(run, run.messages[0])) ==
        "GPU 0000:10:00.0 of node1 -> eth0 of node1 -> eth1 of node1 -> GPU 0000:20:00.0 of node1");
  const auto path = path_of(run, run.messages[0]);
  const std::vector<Leg> legs = legs_of(run, run.messages[0], path);
  REQUIRE(legs.size() == 3);
  for (const Leg& leg : legs) CHECK(path[leg.hop].role == Role::data);
}

TEST_CASE("legs that do not follow each other stand apart; the same one is told once") {
  OnTwoGpus job;
  job.message(0, AmId::eager_first, kBytes / 2 + 24, 3, {7, kBytes, 9});
  job.message(0, AmId::eager_middle, kBytes / 2 + 16, 4, {9, kBytes / 2});
  job.copy(0, UctOp::get_short, {log::kHostMemory, kDevice}, 4);
  const auto way = [&] {
    build_rows(job.builder.job);
    const Run& run = job.builder.job.run;
    return legs_text(run, run.messages[0], path_of(run, run.messages[0]));
  };
  SUBCASE("one after the other") {
    CHECK(way() ==
          "GPU 0000:10:00.0 of node1 -> host memory of node1 -> GPU 0000:20:00.0 of node1");
  }
  SUBCASE("a copy of which the log does not tell where it leaves the data") {
    job.copy(0, UctOp::get_short, {log::kUnknownMemory, kDevice}, 5);
    CHECK(way() ==
          "GPU 0000:10:00.0 of node1 -> host memory of node1; "
          "GPU 0000:10:00.0 of node1 -> unknown memory of node1 -> GPU 0000:20:00.0 of node1");
  }
}

TEST_CASE("as it is shown: JSON, receipts, and the filters by memory") {
  OnTwoGpus job;
  job.message(0, AmId::eager_only, kBytes + 8, 3, {7});
  job.copy(0, UctOp::get_short, {log::kHostMemory, kDevice}, 4);
  build_rows(job.builder.job);
  const Run& run = job.builder.job.run;
  const MessageWithPath first = message_at(run, 0);
  const auto json = message_json(run, first);
  CHECK(json["src_memory"] == nlohmann::ordered_json{{"kind", "gpu"},
                                                     {"gpu", "node1/GPU-0000:10:00.0"},
                                                     {"bus", "0000:10:00.0"}});
  CHECK(json["path"][0]["to"] ==
        nlohmann::ordered_json{{"kind", "host"}, {"gpu", nullptr}, {"bus", nullptr}});
  const Labels labels(run);
  CHECK(receipt(run, labels, first).find(", GPU 0000:10:00.0 to GPU 0000:20:00.0") !=
        std::string::npos);
  CHECK(
      receipt(run, labels, first)
          .find(
              "1 x get_short over tcp/unknown, staging, 5000 B (4.9 KiB), GPU 0000:10:00.0 to host "
              "memory\n") != std::string::npos);
  CHECK(full_receipt(run, labels, first)
            .find("From GPU 0000:10:00.0 of node1 (GPU-0000:10:00.0) to GPU 0000:20:00.0 of node1 "
                  "(GPU-0000:20:00.0). rank 0 copied it from GPU 0000:10:00.0 to host memory: 1 x "
                  "get_short over tcp/unknown.") != std::string::npos);
  using Values = std::vector<std::string>;
  const auto selects = [&](const Values& src, const Values& dst, const Values& gpu) {
    FilterSpec spec;
    spec.src_memory = src;
    spec.dst_memory = dst;
    spec.gpu = gpu;
    const Filter filter(run, spec);
    return std::any_of(run.messages.begin(), run.messages.end(), [&](const Message& message) {
      return filter.selects(message, path_of(run, message));
    });
  };
  CHECK(selects({"gpu"}, {"host", "gpu"}, {}));
  CHECK(!selects({}, {"host"}, {}));
  CHECK(selects({}, {}, {"0000:20:00.0"}));
  CHECK(selects({}, {}, {"node1/GPU-0000:10:00.0"}));
  CHECK_THROWS(selects({}, {}, {"0000:30:00.0"}));
}

}  // namespace
}  // namespace uctrace::merge
