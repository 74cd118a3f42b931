"""Operations of UCP that are under way while recording is switched, in either direction and on many threads: what is
counted is exact, what is recorded agrees with it, and the program sees no difference."""

from checks import results_of
from harness import PROGRAMS, TOOL, check, check_equal, run_test, run_well, scratch
from recordings import Recording, record_well

ON_SIGNAL = ["--start-on", "signal:USR1", "--stop-on", "signal:USR1"]
THREADS, TIMES = 6, 100
SWITCHES = 56  # of recorded_spans.c: one an operation
SETTINGS = {
    "self": {"UCX_TLS": "self"},
    "memory": {"UCX_TLS": "posix,sysv,cma"},
    "tcp": {"UCX_TLS": "tcp"},
    "v2": {"UCX_PROTO_ENABLE": "y"},
}


def check_accounts(info):
    results = {identity["name"]: identity["result"] for identity in info["identities"]}
    check_equal(results_of(info).get("violated", []), [], "violated identities")
    for name in ("events", "uct", "completions", "ucp", "ucp_completions", "tag_sends", "tag_receives",
                 "recorded_uct", "recorded_ucp", "drops"):
        check_equal(results[name], "holds", f"identity {name}")
    check_equal(info["events"]["dropped"], 0, "dropped events")
    check(info["events"]["outside_window"] > 0, f"nothing was left out: {info['events']}")
    check(info["complete"], "the log is not complete")


def spans(setting):
    env, command = SETTINGS[setting], [PROGRAMS / "recorded_spans", "spans"]
    with scratch() as folder:
        whole_result, whole = record_well(folder / "whole", ["env", "--ignore-signal=USR1", *command], env=env)
        result = run_well([TOOL, "record", "-o", folder / "parts", *ON_SIGNAL, "--", *command], env=env)
        check_equal(result.stdout, whole_result.stdout, "output of the program")
        info = Recording(folder / "parts").info
        check_accounts(info)
        check_equal(len(info["windows"]), SWITCHES // 2, "windows")
        check_equal(info["messages"]["sent"], whole.info["messages"]["sent"], "messages sent")


def threads():
    command = [PROGRAMS / "recorded_spans", "threads", THREADS, TIMES]
    with scratch() as folder:
        result = run_well([TOOL, "record", "-o", folder / "parts", *ON_SIGNAL, "--", *command])
        sent = int(result.stdout.removeprefix("recorded_spans: ").removesuffix(" messages are right\n"))
        info = Recording(folder / "parts").info
        check_accounts(info)
        check(len(info["windows"]) > TIMES // 10, f"{len(info['windows'])} windows")
        check_equal(info["messages"]["sent"], sent, "messages sent")


def recorded_spans(case):
    threads() if case == "threads" else spans(case)


run_test(recorded_spans)
