// The distances of devices of a node according to hwloc's file; and other files are rejected.
#include "log-merger/memory/topology.hpp"

#include <doctest/doctest.h>

#include <string>

#include "event-log/reader/error.hpp"
#include "tests/unit/node_topology.hpp"

namespace uctrace {
namespace {

Distance distance(const Topology& topology, const char* gpu, const char* card) {
  return topology.distance(topology.at_bus(gpu).value(), topology.named(card).value());
}

TEST_CASE("the distance of a GPU and a card is what lies between them") {
  const Topology topology = Topology::parse(test::node_topology());
  CHECK(distance(topology, "0000:10:00.0", "mlx5_0") == Distance::pix);
  CHECK(distance(topology, "0000:10:00.0", "mlx5_1") == Distance::pxb);
  CHECK(distance(topology, "0000:10:00.0", "mlx5_2") == Distance::phb);
  CHECK(distance(topology, "0000:10:00.0", "eth0") == Distance::node);
  CHECK(distance(topology, "0000:10:00.0", "mlx5_3") == Distance::sys);
  CHECK(distance(topology, "0000:a0:00.0", "mlx5_3") == Distance::phb);
  CHECK(distance(topology, "0000:a0:00.0", "mlx5_0") == Distance::sys);
  // A card that has a GPU on it; and the other way round.
  CHECK(distance(topology, "0000:11:00.0", "mlx5_0") == Distance::pix);
  CHECK(topology.distance(*topology.named("mlx5_1"), *topology.at_bus("0000:10:00.0")) ==
        Distance::pxb);
  // It may be at either package.
  CHECK(distance(topology, "0000:10:00.0", "far") == Distance::unknown);
}

TEST_CASE("devices have the NUMA node that they are at") {
  const Topology topology = Topology::parse(test::node_topology());
  CHECK(topology.numa_node_of(*topology.at_bus("0000:10:00.0")) == 0);
  CHECK(topology.numa_node_of(*topology.named("mlx5_3")) == 1);
  CHECK(topology.numa_node_of(*topology.named("far")) == -1);
  CHECK(topology.bus_of(*topology.named("mlx5_3")) == "0000:a1:00.0");
  CHECK(topology.numa_distance(0, 1) == 21);
  CHECK(topology.numa_distance(1, 1) == 10);
  CHECK(topology.numa_distance(0, 2) == -1);
  CHECK(topology.numa_distance(-1, 0) == -1);
}

TEST_CASE("a device that the node does not have is not found") {
  const Topology topology = Topology::parse(test::node_topology());
  CHECK(!topology.at_bus("0000:10:00.1"));
  CHECK(!topology.at_bus(""));
  CHECK(!topology.named("mlx5"));
  CHECK(!topology.named(""));
}

TEST_CASE("a machine of one NUMA node: host bridges of it are near") {
  const Topology topology = Topology::parse(
      test::machine("0x00000001", test::host_bridge(test::pci_device("0000:10:00.0")) +
                                      test::host_bridge(test::pci_device("0000:20:00.0", "eth0"))));
  CHECK(distance(topology, "0000:10:00.0", "eth0") == Distance::node);
  CHECK(topology.numa_node_of(*topology.named("eth0")) == 0);
}

TEST_CASE("a package of several NUMA nodes") {
  const Topology topology = Topology::parse(test::machine(
      "0x0000000f",
      test::package("0x00000003", "0",
                    test::host_bridge(test::pci_device("0000:10:00.0")) +
                        test::host_bridge(test::pci_device("0000:20:00.0", "near"))) +
          test::package("0x0000000c", "2",
                        test::host_bridge(test::pci_device("0000:30:00.0", "apart")))));
  CHECK(distance(topology, "0000:10:00.0", "near") == Distance::node);
  CHECK(distance(topology, "0000:10:00.0", "apart") == Distance::sys);
  CHECK(topology.numa_node_of(*topology.named("near")) == -1);
}

TEST_CASE("nothing is known where the firmware tells no NUMA distances, or bandwidths") {
  std::string text = test::node_topology();
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  SUBCASE("bandwidths") { replace("kind=\"5\"", "kind=\"9\""); }
  SUBCASE("a value is missing") { replace("10 21 21 10", "10 21 21"); }
  SUBCASE("of other objects") { replace("distances2 type=\"NUMANode\"", "distances2 type=\"PU\""); }
  const Topology topology = Topology::parse(text);
  CHECK(topology.numa_distance(0, 1) == -1);
  CHECK(distance(topology, "0000:10:00.0", "mlx5_3") == Distance::sys);
}

TEST_CASE("what is no topology is refused") {
  for (const char* text :
       {"", "x", "<", "<topology",
        "<topology version=\"1.0\"><object type=\"Machine\"/></topology>",
        "<topology version=\"2.0\"/>", "<topology version=\"2.0\"><object></topology>",
        "<topology version=\"2.0\"></object></topology>",
        "<topology version=\"2.0\"><object/><object/></topology>",
        "<html version=\"2.0\"><object/></html>"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Topology::parse(text), Error);
  }
}

// Calls every query.
void use(const std::string& text) {
  try {
    const Topology topology = Topology::parse(text);
    for (const char* card : {"mlx5_0", "mlx5_3", "far"}) {
      const auto nic = topology.named(card), gpu = topology.at_bus("0000:10:00.0");
      if (!nic || !gpu) continue;
      topology.distance(*gpu, *nic);
      topology.numa_distance(topology.numa_node_of(*gpu), topology.numa_node_of(*nic));
    }
  } catch (const Error&) {
  }
}

TEST_CASE("damaged files are read as far as they make sense, or refused") {
  const std::string whole = test::node_topology();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    if (size < whole.rfind("</topology>")) CHECK_THROWS_AS(Topology::parse(cut), Error);
    use(cut);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char change : {'<', '>', '"', '/', '9', '\0', '\xff'}) {
      std::string text = whole;
      text[at] = change;
      use(text);
    }
  }
}

}  // namespace
}  // namespace uctrace
