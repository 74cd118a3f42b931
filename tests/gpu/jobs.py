"""The jobs of tests/gpu/run, run from its pack: between memories of each kind, and measurements."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))

from checks import check_complete, check_messages_are, read_truth  # noqa: E402
from gpu_jobs import SHARED_MEMORY, check_memory, check_messages_lie, check_same_output  # noqa: E402
from harness import BUILD_ROOT, PROGRAMS, Failure, check_equal, rebuilt_ucx, run, run_well, scratch  # noqa: E402
from mpi_jobs import MPIS  # noqa: E402
from plain import read_calls  # noqa: E402
from recordings import Recording, record_command  # noqa: E402

WITHOUT_IPC = f"cuda_copy,{SHARED_MEMORY}"
# UCX 1.13 does not see how pools and mapped memory are allocated, and cannot share them by cuda_ipc.
ASKED = {"UCX_TLS": WITHOUT_IPC, "UCX_MEMTYPE_CACHE": "n"}
KINDS = {
    "device": {"UCX_TLS": f"cuda_ipc,{WITHOUT_IPC}"},
    "managed": {"UCX_TLS": WITHOUT_IPC},
    "pool": ASKED,
    "vmm": ASKED,
}
RANKS = (2, 4)


def record(folder, command, settings, history):
    """Without uctrace and with it: the same output, and the recording. The program also writes what is
    true, with it."""
    alone = run_well(command, env=settings)
    command = [*command, folder / "truth"]
    switches = ["--ucx", rebuilt_ucx(), *(["--gpu-history"] if history else [])]
    begin = time.monotonic()
    result = run_well(record_command(folder / "data", command, switches), env=settings)
    seconds = time.monotonic() - begin
    check_same_output(result, alone)
    recording = Recording(folder / "data")
    told = recording.info["gpu"]["history"]
    check_equal(told["state"], "on" if history else "off", f"history of allocations, {told['why']}")
    return recording, seconds


def exchange(folder, kind, ranks, history):
    exported = [word for name in KINDS[kind] for word in ("-x", name)]
    mpi = MPIS["ompi"]
    mpi = replace(mpi, ranks=ranks, transport_options=[*mpi.transport_options, *exported])
    recording, seconds = record(folder, mpi.job("gpu_exchange", kind, kind), KINDS[kind], history)
    rows = read_truth(folder / "truth", mpi)
    check_messages_are(recording, rows)
    check_complete(recording.info)
    check_memory(recording, rows)
    return recording, len(rows), seconds


def reuse(folder, history):
    recording, seconds = record(folder, [PROGRAMS / "gpu_reuse", "asked"], ASKED, history)
    truth = read_calls(folder / "truth")
    check_complete(recording.info, layers=("uct", "ucp"), processes=2)
    check_messages_lie(recording, truth)
    return recording, len(truth) // 2, seconds


def job(name, body, *arguments):
    """A row of the report. A failure is reported, and the next job runs."""
    with scratch() as folder:
        try:
            recording, messages, seconds = body(folder, *arguments)
        except Failure as failure:
            return {"job": name, "right": False, "why": str(failure)}
        gpu = recording.info["gpu"]
        return {"job": name, "right": True, "messages": messages, "seconds": round(seconds, 2),
                "queries": gpu["queries"], "unanswered": gpu["unanswered"],
                "disagreements": gpu["disagreements"]}


def all_jobs(history):
    with_history = ", with history" if history else ""
    for ranks in RANKS:
        for kind in KINDS:
            yield job(f"{kind}, {ranks} ranks{with_history}", exchange, kind, ranks, history)
    yield job(f"addresses used again{with_history}", reuse, history)


def ask_driver(history):
    """The output of query_cost. With history each allocation is reported to uctrace."""
    command = [BUILD_ROOT / "tests" / "gpu" / "query_cost"]
    with scratch() as folder:
        asked = run(record_command(folder / "data", command, ["--gpu-history"]) if history else command)
    if asked.status != 0:
        sys.exit(f"there is no GPU that can be used: {asked.stderr.strip()}")
    return json.loads(asked.stdout)


def kinds_of(driver):
    return {kind: told for kind, told in driver.items() if isinstance(told, dict) and "handle_ns" in told}


def lines_of_allocations(report):
    lines = ["", "allocated and freed, us: alone, with history"]
    with_history = kinds_of(report["driver_with_history"])
    for kind, told in kinds_of(report["driver"]).items():
        times = [one["allocation_ns"] / 1000 for one in (told, with_history[kind])]
        lines.append(f"{kind:<18} {times[0]:>10.2f} {times[1]:>10.2f}")
    return lines


def text_of(report):
    driver = report["driver"]
    lines = [f"{driver['name']}, CUDA {driver['driver'] // 1000}.{driver['driver'] % 1000 // 10}", ""]
    for row in report["jobs"]:
        if row["right"]:
            lines.append(f"{row['job']}: all {row['messages']} messages right at both ends, "
                         f"{row['queries']} queries, {row['seconds']} s")
        else:
            lines.append(f"{row['job']}: WRONG: {row['why']}")
    lines += ["", "ns a question      attributes  buffer id  handle  has an id; of the next one there"]
    for kind, told in kinds_of(driver).items():
        next_one = "the same" if told["next"]["same_id"] else "another"
        where = "same address" if told["next"]["same_address"] else "elsewhere"
        lines.append(f"{kind:<18} {told['attributes_ns']:>10} {told['buffer_id_ns']:>10} "
                     f"{told['handle_ns']:>7}  {'yes' if told['has_id'] else 'no'}; {next_one}, {where}")
    remap = driver["remap"]
    said = "no id" if not remap["has_id"] else "the same id" if remap["same_id"] else "another id"
    lines.append(f"mapped anew at one address: {said}")
    if "driver_with_history" in report:
        lines += lines_of_allocations(report)
    return "\n".join(lines) + "\n"


def main():
    out, history = Path(sys.argv[1]), "--history" in sys.argv
    report = {"driver": ask_driver(False)}
    if history:
        report["driver_with_history"] = ask_driver(True)
    jobs = [row for with_history in ([False, True] if history else [False]) for row in all_jobs(with_history)]
    report["jobs"] = jobs
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    text = text_of(report)
    (out / "report.txt").write_text(text)
    print(text, end="")
    sys.exit(0 if all(row["right"] for row in jobs) else 1)


main()
