"""A UCX made by `uctrace build-ucx`: its jobs are recorded like those of a stock one, and more exactly.

    test_rebuilt.py same self|plain_ucp|ompi   operation by operation, against the stock UCX
    test_rebuilt.py job ompi|mpich        a job over it, in front of the launcher and behind
    test_rebuilt.py prefix                prefixes that hold none, and programs that bring their own
    test_rebuilt.py scopes                opened by path in private scopes, renamed, beside another
"""

import shutil
from collections import Counter, defaultdict
from pathlib import Path

from checks import check_complete, check_delivered, check_messages_are, read_truth
from harness import PROGRAMS, TOOL, check, check_equal, need, rebuilt_ucx, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_command, record_well

LIBRARIES = ("ucm", "ucs", "uct", "ucp")


def record_rebuilt(folder, command, prefix=None, **options):
    line = record_command(folder, command)
    line[2:2] = ["--ucx", prefix or rebuilt_ucx()]
    result = run_well(line, **options)
    return result, Recording(folder)


def check_mode(recording, mode, library=None):
    ucx = recording.info["ucx"]
    check_equal(ucx["mode"], mode, f"way in, of {ucx}")
    if library is not None:
        check_equal([known["path"] for known in ucx["uct_libraries"]], [str(library)], "libuct")
    if mode == "rebuilt":
        inferred = recording.info["links"]["uct_ucp"]["inferred"]
        check_equal(inferred, 0, "transfers tied by their content")


def libuct():
    return rebuilt_ucx().resolve() / "lib" / "libuct.so.0"


# --- the same program both ways -------------------------------------------------------------------

UCT_COLUMNS = ("op", "am_id", "wire_bytes", "payload_bytes", "transport", "device", "reason", "role",
               "status")
UCP_COLUMNS = ("function", "bytes", "tag", "status", "received_bytes", "sender_tag")


def operations_of(recording, table, columns):
    """{process: operations in the order in which it posted them}. Two kinds depend on timing and are
    left out: flushes, which are repeated until everything is done, and wire-up messages, which are more
    if both sides begin."""
    served = {}
    if table == "transfers":
        served = dict(enumerate(row["tag"] for row in recording.table("messages")))
    rows = sorted(recording.table(table), key=lambda row: row["t_start_ns"])
    operations = defaultdict(list)
    for row in rows:
        is_flush = "flush" in row.get("op", "") + row.get("function", "")
        if is_flush or row.get("reason") == "wireup":
            continue
        operation = tuple(row[column] for column in columns)
        if served:
            operation += (served.get(row["message"]),)
        operations[row["process"]].append(operation)
    return operations


def check_same_operations(stock, rebuilt, *, in_order):
    for table, columns in (("ucp_operations", UCP_COLUMNS), ("transfers", UCT_COLUMNS)):
        expected = operations_of(stock, table, columns)
        found = operations_of(rebuilt, table, columns)
        check(any(expected.values()), f"the stock run has no {table}")
        # Process numbers are by start: those of two runs may be swapped.
        kind = tuple if in_order else lambda rows: frozenset(Counter(rows).items())
        stock_kinds = Counter(kind(rows) for rows in expected.values())
        rebuilt_kinds = Counter(kind(rows) for rows in found.values())
        missing, extra = stock_kinds - rebuilt_kinds, rebuilt_kinds - stock_kinds
        for one, other in zip(missing, extra):
            for a, b in zip(sorted(map(str, one)), sorted(map(str, other))):
                check(a == b, f"{table}: {b} where the stock UCX had {a}")
        check(not missing and not extra, f"{table}: {sum(missing.values())} processes differ")


def same_operations(program):
    with scratch() as folder:
        if program == "self":
            command = [PROGRAMS / "opened_ucp", "global", "libucp.so.0"]
        elif program == "plain_ucp":
            command = [PROGRAMS / "plain_ucp"]
        else:
            command = MPIS[program].job("exchange")
        environment = {"UCX_TLS": "self"} if program == "self" else {}
        alone, stock = record_well(folder / "stock", command, env=environment)
        result, rebuilt = record_rebuilt(folder / "rebuilt", command, env=environment)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_mode(stock, "stock")
        check_mode(rebuilt, "rebuilt", libuct())
        check_same_operations(stock, rebuilt, in_order=program == "self")


# --- jobs -----------------------------------------------------------------------------------------


def a_job_over_it(name):
    mpi = MPIS[name]
    with scratch() as folder:
        alone = run_well(mpi.job("exchange"))
        job = mpi.job("exchange", folder / "truth")
        result, recording = record_rebuilt(folder / "front", job)
        check_equal(result.stdout, alone.stdout, "output of the job")
        check_messages_are(recording, read_truth(folder / "truth", mpi))
        check_complete(recording.info, processes=mpi.ranks)
        check_mode(recording, "rebuilt", libuct())

        job = mpi.job("exchange")
        at = job.index(PROGRAMS / f"exchange.{name}")
        behind = [TOOL, "record", "--ucx", rebuilt_ucx(), "-o", folder / "behind", "--"]
        result = run_well([*job[:at], *behind, *job[at:]])
        check_equal(result.stdout, alone.stdout, "output of the job behind the launcher")
        recording = Recording(folder / "behind")
        check_complete(recording.info, processes=mpi.ranks)
        check_mode(recording, "rebuilt", libuct())


# --- prefixes -------------------------------------------------------------------------------------


def refused(folder, prefix, *words):
    result = run([TOOL, "record", "--ucx", prefix, "-o", folder / "data", "--", "true"])
    check_equal(result.status, 125, f"status of a prefix that is refused: {result}")
    for word in (str(prefix), "uctrace build-ucx", *words):
        check(word in result.stderr, f"no word of {word!r}: {result}")
    check(not (folder / "data").exists(), "nothing was to be done")


def copy_of_stock(folder, name="libucp.so.0"):
    """The distribution's UCX, or what else the loader finds under this name."""
    for line in run_well([need("ldd"), PROGRAMS / "plain_ucp"]).stdout.splitlines():
        words = line.split()
        if words and words[0].startswith(tuple(f"lib{one}.so" for one in LIBRARIES)):
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(words[2], folder / words[0])
    return folder / name


def prefixes():
    with scratch() as folder:
        refused(folder, folder / "nowhere", "no such folder")
        (folder / "empty").mkdir()
        refused(folder, folder / "empty", "libucp.so.0")
        copy_of_stock(folder / "stock" / "lib")
        refused(folder, folder / "stock", "was not built for uctrace")

        # A program that brings its own along, under names of its own.
        own = rename(rebuilt_ucx() / "lib", folder / "renamed" / "lib", "own")
        command = [PROGRAMS / "opened_ucp", "deepbind", own]
        result, recording = record_rebuilt(folder / "data", command, env={"UCX_MODULES": " "})
        check("another UCX than that of --ucx was loaded" in result.stderr, f"not said: {result}")
        faults = {fault["fault"] for fault in recording.info["faults"]}
        check("other_ucx_loaded" in faults, f"no fault names it: {faults}")

        # The prefix may have these names, too.
        result, recording = record_rebuilt(folder / "own", command, folder / "renamed", env={"UCX_MODULES": " "})
        check("another UCX" not in result.stderr, f"it is the one of --ucx: {result}")
        check_mode(recording, "rebuilt", (folder / "renamed" / "lib" / "libuct-own.so.0").resolve())
        check_all_seen(recording)


# --- scopes ---------------------------------------------------------------------------------------


def rename(source, target, word):
    """Copies of the four libraries under other sonames, as language bindings bundle them. Returns the
    path of libucp."""
    target.mkdir(parents=True)
    patchelf = need("patchelf")
    for name in LIBRARIES:
        copy = target / f"lib{name}-{word}.so.0"
        shutil.copy((Path(source) / f"lib{name}.so.0").resolve(), copy)
        # One change at a time: patchelf loses some of several.
        run_well([patchelf, "--set-soname", copy.name, copy])
        for other in LIBRARIES:
            renamed = (f"lib{other}.so.0", f"lib{other}-{word}.so.0")
            run_well([patchelf, "--replace-needed", *renamed, copy])
        run_well([patchelf, "--set-rpath", "$ORIGIN", copy])
    return target / f"libucp-{word}.so.0"


def opened(folder, *libraries):
    """A program that finds these by path, recorded. Modules are shared by all copies of UCX in a
    process, which then fail even alone: so none here."""
    command = [PROGRAMS / "opened_ucp", *libraries]
    environment = {"UCX_MODULES": " "}
    alone = run_well(command, env=environment)
    result, recording = record_well(folder, command, env=environment)
    check_equal(result.stdout, alone.stdout, "output of the program")
    return recording


def check_all_seen(recording):
    check_equal(len(recording.messages), 15, "messages")
    check_delivered(recording.messages)
    check_complete(recording.info, layers=("uct", "ucp"), processes=1)


def scopes():
    patched = rebuilt_ucx() / "lib"
    with scratch() as folder:
        renamed = rename(patched, folder / "lib", "own")
        stock = copy_of_stock(folder / "stock")
        for number, (scope, library) in enumerate(
            (scope, library)
            for scope in ("local", "deepbind")
            for library in (patched / "libucp.so.0", renamed)
        ):
            recording = opened(folder / f"data{number}", scope, library)
            check_mode(recording, "rebuilt")
            check_all_seen(recording)
        for number, libraries in enumerate(
            (
                ("local", stock, "deepbind", renamed),
                ("deepbind", renamed, "local", stock),
            )
        ):
            # The stock one is called through a handle, where only it is found: only its UCT operations
            # are seen. Each calls its own originals, or the program would fail.
            recording = opened(folder / f"both{number}", *libraries)
            check_mode(recording, "mixed")
            check_equal(len(recording.messages), 15, "messages of the rebuilt one")
            check_delivered(recording.messages)
        # The stock one comes first, as if the program were linked with it. One program calls both, so it is not
        # always clear which one is meant, and UCX may warn when it ends: but it is the same for all calls of
        # one, from ucp_init on, and the program runs to its end.
        command = [PROGRAMS / "opened_ucp", "global", stock, "deepbind", renamed]
        alone = run_well(command, env={"UCX_MODULES": " "})
        result, _ = record_well(folder / "after", command, env={"UCX_MODULES": " "})
        check(result.stdout.endswith(alone.stdout), f"output of the program: {result}")


BODIES = {"same": same_operations, "job": a_job_over_it, "prefix": prefixes, "scopes": scopes}
run_test(lambda what, *arguments: BODIES[what](*arguments))
