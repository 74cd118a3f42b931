"""Counters of network ports compared with the recording: fake kernel files with counters that wrap,
cards that come and go, and missing files; and the cable of two hosts, which the kernel itself
counts."""

import json

from harness import check, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_command
from red_identities import IDENTITY_VIOLATED, changed_copy, names_with
from two_host_jobs import open_mpi
from two_hosts import CABLE, HOSTS, two_hosts

NET = ("tx_bytes", "rx_bytes", "tx_packets", "rx_packets")
PORT = ("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets")
LARGEST_32 = 2**32 - 1
LARGEST_64 = 2**64 - 1

# card: (counters before, counters after), as they stand in the files; None: no such file or card.
CARDS = {
    "eth0": ((1000, 2000, 10, 20), (5000, 2500, 30, 25)),
    "idle0": ((7, 8, 1, 1), (7, 8, 1, 1)),
    "wrap0": ((LARGEST_32 - 99, 0, 0, 0), (100, 50, 0, 0)),
    "large0": ((LARGEST_64 - 99, 0, 0, 0), (100, 50, 0, 0)),
    "reset0": ((1000, 1000, 0, 0), (10, 10, 0, 0)),
    "gone0": ((1, 1, 1, 1), None),
    "came0": (None, (300, 400, 3, 4)),
    "half0": ((None, 5, None, 5), (None, 9, None, 9)),
    "mlx5_0:1": ((100, 200, 1, 2), (1100, 2200, 11, 22)),
    "mlx5_0:2": ((LARGEST_32, 0, 0, 0), (LARGEST_32, 1, 0, 0)),
}
# How it is counted, bytes sent and received.
EXPECTED = {
    "eth0": ("exact", 4000, 500),
    "idle0": ("exact", 0, 0),
    "wrap0": ("wrapped", 200, 50),
    "large0": ("exact", 200, 50),
    "reset0": ("restarted", None, None),
    "gone0": ("gone", None, None),
    "came0": ("partly", 300, 400),
    "half0": ("unread", None, None),
    "mlx5_0:1": ("exact", 4000, 8000),  # words of 4 bytes
    "mlx5_0:2": ("at_least", 0, 4),
}


def write_tree(root, which):
    for card, counters in CARDS.items():
        if counters[which] is None:
            continue
        device, _, port = card.partition(":")
        folder = root / "class/net" / device / "statistics"
        if port:
            folder = root / "class/infiniband" / device / "ports" / port / "counters"
        folder.mkdir(parents=True)
        for name, value in zip(PORT if port else NET, counters[which]):
            if value is not None:
                (folder / name).write_text(f"{value}\n")
    # Not a network device, like the files of bonding.
    (root / "class/net/bonding_masters").write_text("\n")


def rails_of(recording):
    return {(row["host"], row["card"]): row
            for row in json.loads(recording.ask("report", "--by", "rails", "--format", "json").stdout)["rails"]}


def record_with_tree(folder, mpi, *more, options=()):
    write_tree(folder / "sys", 0)
    write_tree(folder / "after", 1)
    job = mpi.job("card_counters", folder / "sys", folder / "after", *more)
    result = run(record_command(folder / "data", job, options),
                 env={"UCTRACE_SYSFS": str(folder / "sys")})
    return result, Recording(folder / "data")


def files_are_told(name):
    with scratch() as folder:
        result, recording = record_with_tree(folder, MPIS[name])
        check_equal(result.status, 0, f"status of the job: {result}")
        host = recording.info["processes"][0]["host"]
        rails = rails_of(recording)
        for card, (counted, sent, received) in EXPECTED.items():
            row = rails[host, card]
            found = (row["counted"], row["counted_sent_bytes"], row["counted_received_bytes"])
            check_equal(found, (counted, sent, received), f"what {card} carried")
            # Nothing was recorded over missing cards.
            check_equal((row["sent_bytes"], row["unattributed_sent_bytes"]), (0, sent), f"rest of {card}")
        check((host, "bonding_masters") not in rails, "what is no card is told as one")
        network = recording.info["network"]
        check_equal(network["hosts"], [{"host": host, "read": True, "why": None, "remarks": []}], "hosts")
        text = recording.ask("report", "--by", "rails").stdout
        for words in ("eth0", "of 32 bits passed its end", "came while the job ran"):
            check(words in text, f"'{words}' is not said: {text}")
        refused = recording.ask("report", "--by", "rails", "--mpi", "MPI_Sendrecv_replace")
        check(refused.status == 125, f"a filter is taken: {refused}")


def unread_is_said():
    """No counters, none at the end, or no reader: the job runs as usual, and it is reported."""
    mpi = MPIS["ompi"]
    with scratch() as folder:
        for case, options, more, words in (
                ("helper", ["--no-helper"], [], "without a helper"),
                ("killed", [], ["kill"], "killed")):
            own = folder / case
            own.mkdir()
            result, recording = record_with_tree(own, mpi, *more, options=options)
            check_equal(result.status == 0, case != "killed", f"status of the job: {result}")
            host, = recording.info["network"]["hosts"]
            check(not host["read"] and words in host["why"], f"{case}: {host}")
            states = {row["counted"] for row in rails_of(recording).values()}
            check(not states & {"exact", "wrapped", "partly"}, f"{case}: counted as {states}")
        run_well(record_command(folder / "data", mpi.job("exchange", folder / "truth")),
                 env={"UCTRACE_SYSFS": str(folder / "nowhere")})
        host, = Recording(folder / "data").info["network"]["hosts"]
        check("could not be listed" in " ".join(host["remarks"]), f"a tree that is not there: {host}")


PACKET_HEADER_BYTES = 66  # Ethernet, IPv4, TCP with timestamps


def cable_is_told():
    with scratch() as folder, two_hosts(folder / "rig") as rig:
        before = {host: rig.counters(host) for host in HOSTS}
        run_well(rig.on_login(record_command(folder / "data", open_mpi(rig).job("large"))))
        whole = {host: rig.counters(host) - before[host] for host in HOSTS}
        recording = Recording(folder / "data")
        rails = rails_of(recording)
        check_equal([host["read"] for host in recording.info["network"]["hosts"]], [True, True], "read")
        for host, other in (HOSTS, HOSTS[::-1]):
            row, far = rails[host, CABLE], rails[other, CABLE]
            check_equal((row["counted"], row["kind"], row["opened"]), ("exact", "net", 1), f"cable of {host}")
            check_equal(row["sent_bytes"], far["received_bytes"], f"recorded from {host} to {other}")
            # The port's count within the run is at most the test's count around it, and nearly all of
            # it.
            check(0.99 * whole[host].sent_bytes < row["counted_sent_bytes"] <= whole[host].sent_bytes,
                  f"{host}: {row} against {whole[host]}")
            rest = row["unattributed_sent_bytes"] - PACKET_HEADER_BYTES * row["counted_sent_packets"]
            check(abs(rest) < 0.01 * row["counted_sent_bytes"], f"{host}: {rest} B are in no header")
            check(row["share_percent"] > 99, f"all goes by the cable: {row}")


COUNTED_SENT, COUNTED_RECEIVED = 2, 3  # words of what is read of a card
LAG_S = 2  # what went later than this before the last reading may not be in it


def count_less(which):
    """The cable's counter of one host, changed to half its increase. With hardly any increase, a kernel
    bypass would explain it."""

    def change(log):
        texts = [(at, at_end, text.split(" ")) for at, at_end, text in log.network_texts()]
        cable = {at_end: (at, words) for at, at_end, words in texts if words[1:2] == [CABLE]}
        if len(cable) < 2:
            return False
        (_, first), (at, last) = cable[False], cable[True]
        check(int(last[which]) > int(first[which]) + 1, f"the counter did not rise: {first}, {last}")
        start = at + len(" ".join(last[:which])) + 1
        less = str((int(first[which]) + int(last[which])) // 2).zfill(len(last[which]))
        log.bytes[start : start + len(less)] = less.encode()
        return True

    return change


def identities_go_red():
    """Bytes proven to have passed a port are in its counter, or the identity is violated; without
    readings of all cards it is not known."""
    with scratch() as folder, two_hosts(folder / "rig", own_boot_ids=True) as rig:
        job = open_mpi(rig).job("large", folder / "truth", LAG_S + 1)
        run_well(rig.on_login(record_command(folder / "data", job)))
        good = Recording(folder / "data")
        results = {i["name"]: i for i in good.info["identities"]}
        check_equal({i["result"] for i in results.values()}, {"holds"}, f"{results}")
        rails = rails_of(good)
        for name, way in (("network_sent", "sent"), ("network_received", "received")):
            recorded = sum(rails[host, CABLE][f"{way}_bytes"] for host in HOSTS)
            check(0.9 * recorded < results[name]["left"] <= recorded, f"{results[name]} of {recorded} B")
        for name, which in (("network_sent", COUNTED_SENT), ("network_received", COUNTED_RECEIVED)):
            red = changed_copy(good, folder / name, count_less(which))
            check_equal(names_with(red, "violated"), {name}, f"violated by a counter that is too low: {name}")
            check_equal(red.ask("info").status, IDENTITY_VIOLATED, f"exit status of info: {name}")
            check(any(note.startswith(f"{name}: ports counted") for note in red.info["notes"]), "how much is missing")
            unread = changed_copy(good, folder / f"{name}_unread",
                                  lambda log, which=which: count_less(which)(log) and lose_a_card(log))
            check_equal(names_with(unread, "violated"), set(), "violated though a card was not read at the end")
            check_equal(names_with(unread, "incomplete"), {name}, "what cannot be told")


def lose_a_card(log):
    """The reading of another card at the end is that of a card that came; its first reading stays."""
    for at, at_end, text in log.network_texts():
        if at_end and text.startswith("net eth0 "):
            log.bytes[at + 4 : at + 8] = b"eth9"
            return True
    return False


CASES = {"identities": identities_go_red, "files": files_are_told, "unread": unread_is_said, "hosts": cable_is_told}
run_test(lambda case, *arguments: CASES[case](*arguments))
