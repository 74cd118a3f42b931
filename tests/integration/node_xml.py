"""hwloc's XML of another node: HWLOC_XMLFILE makes hwloc use it instead of this machine. Two packages
with a NUMA node each. The first has the GPU 0000:10:00.0, under the same switch as the named network
card; the second has the GPU 0000:20:00.0."""

import itertools

NUMA_DISTANCE = {"same": 10, "other": 21}
# From the card, by the bus of the GPU: distance, NUMA distance.
FROM_CARD = {"0000:10:00.0": ("PIX", NUMA_DISTANCE["same"]), "0000:20:00.0": ("SYS", NUMA_DISTANCE["other"])}
NUMA_NODES = {"0000:10:00.0": 0, "0000:20:00.0": 1}
CARD_BUS = "0000:11:00.0"


class _Writer:
    def __init__(self):
        self._numbers = itertools.count(1)

    def object(self, kind, *inside, **attributes):
        number = next(self._numbers)
        words = " ".join(f'{name}="{value}"' for name, value in attributes.items())
        return f'<object type="{kind}" {words} gp_index="{number}">\n{"".join(inside)}</object>\n'

    def place(self, kind, at, number, *inside):
        sets = {name: f"0x{at:08x}" for name in ("cpuset", "complete_cpuset", "nodeset", "complete_nodeset")}
        return self.object(kind, *inside, os_index=number, **sets)

    def device(self, bus, kind, *inside):
        return self.object("PCIDev", *inside, pci_busid=bus, pci_type=f"{kind} [10de:2330] [10de:16c1] a1",
                           pci_link_speed="0.000000")

    def bridge(self, buses, *inside):
        return self.object("Bridge", *inside, bridge_type="1-1", depth=1, bridge_pci=f"0000:[{buses}]",
                           pci_busid=f"0000:{buses[:2]}:1f.0", pci_type="0604 [104c:8232] [0000:0000] 00",
                           pci_link_speed="0.000000")

    def host_bridge(self, buses, *inside):
        return self.object("Bridge", *inside, bridge_type="0-1", depth=0, bridge_pci=f"0000:[{buses}]")

    def package(self, number, *devices):
        at = 1 << number
        core = self.place("Core", at, number, self.place("PU", at, number))
        memory = self.place("NUMANode", at, number).replace(" gp_index", ' local_memory="1073741824" gp_index')
        return self.place("Package", at, number, memory, core, *devices)


def node_xml(card):
    write = _Writer()
    name = write.object("OSDev", name=card, osdev_type=2)
    switch = write.bridge("10-12", write.device("0000:10:00.0", "0302"),
                          write.device(CARD_BUS, "0200", name))
    machine = write.place(
        "Machine", 3, 0,
        write.package(0, write.host_bridge("10-12", switch)),
        write.package(1, write.host_bridge("20-21", write.device("0000:20:00.0", "0302"))))
    # The job may use all of it.
    machine = machine.replace(" gp_index", ' allowed_cpuset="0x00000003" allowed_nodeset="0x00000003" gp_index', 1)
    distances = (f'{NUMA_DISTANCE["same"]} {NUMA_DISTANCE["other"]} '
                 f'{NUMA_DISTANCE["other"]} {NUMA_DISTANCE["same"]} ')
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
{machine}<distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
<indexes length="4">0 1 </indexes>
<u64values length="{len(distances)}">{distances}</u64values>
</distances2>
</topology>
"""
