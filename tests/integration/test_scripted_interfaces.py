"""More interfaces than there are ids and entries for them: nothing is lost, and each operation has its
own interface, not an older one with the same id."""

from checks import check_accounts, results_of
from harness import PROGRAMS, check_equal, run_test, run_well, scratch
from recordings import record_well
from scripted import DEVICES

MESSAGES = 3  # before all the others that are opened on the second device, and after


def many_interfaces_are_recorded():
    program = [PROGRAMS / "scripted_interfaces"]
    with scratch() as folder:
        alone = run_well(program)
        result, recording = record_well(folder / "data", program)
        check_equal(result.stdout, alone.stdout, "output of the program")
        info = recording.info
        check_equal(info["faults"], [], "faults")
        check_equal(set(results_of(info)), {"holds"}, f"identities {results_of(info)}")
        check_accounts(info)
        rows = sorted(recording.table("transfers"), key=lambda row: row["t_start_ns"])
        check_equal([(row["op"], row["device"], row["reason"]) for row in rows],
                    [("am_short", DEVICES[0], "direct_uct")] * (2 * MESSAGES),
                    "operations and their devices")
        check_equal({row["peer_process"] for row in rows}, {0}, "their peers")


run_test(many_interfaces_are_recorded)
