"""A program that uses UCP without any MPI: its messages are matched between its processes."""

from checks import check_complete, check_delivered, check_links, check_same_multiset
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch, uses_protocols_v2
from recordings import record_well

ROUNDS = 3
SIZES = (0, 1, 8, 100, 4000, 8192, 20000, 100000, 1048576)
TO_OTHER, TO_SELF = (1, 2), 3  # upper half of the tag, as plain_ucp.c gives it


def messages_of_program():
    for number in range(ROUNDS * len(SIZES)):
        for kind in (*TO_OTHER, TO_SELF, TO_SELF):  # both processes also send to themselves
            yield {"ucp_tag": kind << 32 | number, "bytes": SIZES[number % len(SIZES)]}


SETTINGS = {"default": {}, "protocols-v2": {"UCX_PROTO_ENABLE": "y"}}


def plain_ucp_is_recorded(setting):
    program, environment = [PROGRAMS / "plain_ucp"], SETTINGS[setting]
    with scratch() as folder:
        alone = run_well(program, env=environment)
        result, recording = record_well(folder / "data", program, env=environment)
        check_equal(result.stdout, alone.stdout, "output of the program")
        messages = [{**m, "ucp_tag": int(m["ucp_tag"], 16)} for m in recording.messages]
        check_same_multiset(messages, messages_of_program(), ("ucp_tag", "bytes"), "messages")
        check_delivered(messages)
        for message in messages:
            to_self = message["ucp_tag"] >> 32 == TO_SELF
            same = message["src_process"] == message["dst_process"]
            check(message["src_process"] is not None, f"sender unknown: {message}")
            check_equal(same, to_self, f"the message stays in its process: {message}")
            for column in ("src", "dst", "mpi", "comm", "tag"):
                check_equal(message[column], None, f"{column} without MPI")
        check_complete(recording.info, layers=("uct", "ucp"), processes=2)
        check_links(recording.info, environment)
        named = {m["protocol"] for m in messages if m["protocol_from"] == "ucx"}
        eager = [name for name in named if name.startswith("egr/")]  # which depends on the version
        check_equal(bool(eager), uses_protocols_v2(environment), f"named by UCX: {named}")


run_test(plain_ucp_is_recorded)
