// The topology of a node, as hwloc writes it: two packages with a NUMA node each. The first has a
// GPU and cards at all distances from it, at the second another GPU and card.
#pragma once

#include <string>

namespace uctrace::test {

inline std::string pci_device(const std::string& bus, const std::string& card = "") {
  const std::string name =
      card.empty() ? "" : "<object type=\"OSDev\" name=\"" + card + "\" osdev_type=\"3\"/>";
  return "<object type=\"PCIDev\" gp_index=\"7\" pci_busid=\"" + bus +
         "\" pci_type=\"0302 [10de:2330] [10de:16c1] a1\">" + name + "</object>";
}
inline std::string bridge(const std::string& inside) {
  return "<object type=\"Bridge\" bridge_type=\"1-1\" depth=\"1\" bridge_pci=\"0000:[01-0f]\">" +
         inside + "</object>\n";
}
inline std::string host_bridge(const std::string& inside) {
  return "<object type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[00-0f]\">" +
         inside + "</object>\n";
}
inline std::string package(const std::string& nodes, const std::string& number,
                           const std::string& inside) {
  return "<object type=\"Package\" os_index=\"" + number + "\" nodeset=\"" + nodes +
         "\"><info name=\"CPUModel\" value=\"a &gt; b\"/><object type=\"NUMANode\" os_index=\"" +
         number + "\" nodeset=\"" + nodes + "\"/><object type=\"Core\" os_index=\"0\" nodeset=\"" +
         nodes + "\"/>" + inside + "</object>\n";
}
inline std::string machine(const std::string& nodes, const std::string& inside) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
         "<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\" nodeset=\"" +
         nodes + "\">\n" + inside +
         "</object>\n<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" name=\"NUMALatency\" "
         "indexing=\"os\">\n<indexes length=\"4\">0 1 </indexes>\n"
         "<u64values length=\"12\">10 21 21 10 </u64values>\n</distances2>\n"
         "<support name=\"discovery.pu\"/>\n</topology>\n";
}

inline std::string node_topology() {
  const std::string under_one_switch =
      bridge(bridge(pci_device("0000:10:00.0")) + bridge(pci_device("0000:11:00.0", "mlx5_0")) +
             bridge(bridge(bridge(pci_device("0000:12:00.0", "mlx5_1")))));
  return machine("0x00000003", package("0x00000001", "0",
                                       host_bridge(under_one_switch +
                                                   bridge(pci_device("0000:13:00.0", "mlx5_2"))) +
                                           host_bridge(pci_device("0000:14:00.0", "eth0"))) +
                                   package("0x00000002", "1",
                                           host_bridge(bridge(pci_device("0000:A0:00.0")) +
                                                       pci_device("0000:A1:00.0", "mlx5_3"))) +
                                   host_bridge(pci_device("0000:fe:00.0", "far")));
}

}  // namespace uctrace::test
