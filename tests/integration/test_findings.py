"""Findings, settings and expectations of real jobs, in both directions.

    test_findings.py MPI"""

import json

from harness import TOOL, check, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_over_tcp, record_well

RULES_OF_RECORDING = {"records-dropped", "messages-unmatched", "identities-violated"}


def findings_of(recording, *options):
    result = recording.ask("report", "--findings", "--format", "json", *options)
    check_equal(result.status, 0, f"{result}")
    found = json.loads(result.stdout)["findings"]
    for finding in found:
        check(finding["rule"] not in RULES_OF_RECORDING, f"nothing is in doubt: {finding}")
    return {finding["rule"]: finding for finding in found}


def expect(recording, expected, *options):
    result = run([TOOL, "check", "--run", recording.folder, "--expect", expected, "--format", "json", *options])
    check(result.status in (0, 1), f"{result}")
    return result.status, json.loads(result.stdout)


def settings_of(recording):
    return {row["name"]: row for row in recording.info["settings"] if row["from"] == "environment"}


def check_protocols(recording):
    """The table adds up to the messages, and its medians lie between the least and greatest latency."""
    result = recording.ask("report", "--by", "protocol", "--format", "json")
    tables = json.loads(result.stdout)
    messages = recording.messages
    for table in (tables["protocols"], tables["protocol_sizes"]):
        check_equal(sum(row["messages"] for row in table), len(messages), "messages")
        check_equal(sum(row["bytes"] for row in table), sum(m["bytes"] for m in messages), "payload")
    check(any(row["median_ns"] is not None for row in tables["protocol_sizes"]), "no row has times")
    for row in tables["protocol_sizes"]:
        same = [m for m in messages if (m["protocol"] or "unknown") == row["protocol"]
                and row["from_bytes"] <= m["bytes"] < row["below_bytes"] or
                (row["below_bytes"] == 1 and m["bytes"] == 0 and (m["protocol"] or "unknown") == row["protocol"])]
        times = [max(0, m["t_end_ns"] - max(m["t_start_ns"], m["t_posted_recv_ns"] or -1)) for m in same
                 if m["t_end_ns"] is not None and m["t_start_ns"] is not None]
        if row["median_ns"] is None:
            continue
        check(min(times) * 63 / 64 - 1 <= row["median_ns"] <= row["p99_ns"] <= max(times) * 65 / 64 + 1, f"{row}")


# Open MPI 6 opens everything in UCT besides UCP, ignoring UCX_TLS.
WITHOUT_UCT_ALONE = {"OMPI_MCA_btl": "^uct"}


def of_shared_memory(mpi, folder):
    environment = {"UCX_TLS": "sm,self", **WITHOUT_UCT_ALONE}
    _, recording = record_well(folder / "sm", mpi.job("exchange"), env=environment)
    found = findings_of(recording)
    check("tcp-within-host" not in found and "settings-differ" not in found, f"{found}")
    check_equal(expect(recording, "intra=sm|self")[0], 0, "status")
    status, judged = expect(recording, "intra=tcp,inter=rc")
    check_equal(status, 1, "status")
    check_equal([e["result"] for e in judged["expectations"]], ["not_met", "nothing"], "results")
    check(judged["pairs"] and all(pair["transport"] != "tcp" and pair["bytes"] > 0 for pair in judged["pairs"]), f"{judged}")
    check_equal(settings_of(recording)["UCX_TLS"]["value"], "sm,self", "UCX_TLS")
    check_equal(settings_of(recording)["UCX_TLS"]["differs"], False, "UCX_TLS")
    opened = {row["name"] for row in recording.info["settings"] if row["from"] == "opened"}
    check(opened and "tcp" not in opened, f"opened: {opened}")
    # Each offer to UCX is either opened or left out, exactly once.
    offered = {(row["name"], device) for row in recording.info["settings"] if row["from"] == "offered"
               for device in row["value"].split(", ")}
    left = {row["name"]: row for row in recording.info["settings"] if row["from"] == "left_out"}
    taken = {(row["name"], device) for row in recording.info["settings"] if row["from"] == "opened"
             for device in row["value"].split(", ")}
    omitted = {(name, device) for name, row in left.items() for device in row["value"].split(", ")}
    check_equal(offered, taken | omitted, "offers: what was opened and what was left out")
    check_equal(left["tcp"]["why"], "UCX_TLS=sm,self leaves it out", "why tcp was left out")
    check("and did not open it: UCX_TLS=sm,self leaves it out" in
          run_well([TOOL, "info", recording.folder, "--list", "settings"]).stdout, "in words")
    limits = {row["name"] for row in recording.info["settings"] if row["from"] == "system"}
    check("memlock" in limits, f"limits: {limits}")
    check_protocols(recording)


def of_tcp(mpi, folder):
    secrets = {"UCX_TLS": "tcp,self", "UCX_MY_SECRET": "x", "MY_UCX_TLS": "y"}
    _, recording = record_over_tcp(folder / "tcp", mpi.job("exchange"), env=secrets)
    found = findings_of(recording)
    check("UCX_TLS=tcp,self leaves shared memory out" in found["tcp-within-host"]["finding"], f"{found}")
    check(found["tcp-within-host"]["evidence"]["payload_bytes"] > 0, f"{found}")
    check_equal(expect(recording, "intra=tcp|self")[0], 0, "status")
    check_equal(expect(recording, "intra=sm|self")[1]["result"], "not_met", "result")
    names = settings_of(recording)
    check("UCX_MY_SECRET" not in names and "MY_UCX_TLS" not in names, f"{names}")
    refused = recording.ask("report", "--findings", "--transport", "tcp")
    check_equal(refused.status, 125, f"{refused}")
    check("the whole run" in refused.stderr, f"{refused}")


def of_one_rank(mpi, folder):
    """Only the last rank has a setting, from a shell between launcher and program."""
    last = mpi.ranks - 1
    *launcher, program = mpi.job("exchange")
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    script = f'[ "{rank}" != {last} ] || export UCX_ZCOPY_THRESH=1234567; exec "$0"'
    _, recording = record_well(folder / "one", [*launcher, "sh", "-c", script, program],
                               env={"UCX_TLS": "sm,self"})
    found = findings_of(recording)
    check_equal(found["settings-differ"]["finding"],
                f"rank {last} has UCX_ZCOPY_THRESH=1234567, all others none", "finding")
    check("transports-differ" not in found, f"{found}")
    text = recording.ask("report").stdout
    check(f"UCX_ZCOPY_THRESH=1234567 (rank {last})" in text, text)
    check(f"rank {last} has UCX_ZCOPY_THRESH=1234567, all others none" in text, text)


def without_ucx(mpi, folder):
    if not mpi.transport_options:
        return
    job = mpi.job("allreduce", 1000, options="--mca pml ob1 --mca btl self,vader".split())
    _, recording = record_well(folder / "none", job)
    found = findings_of(recording)
    check("pml=ob1" in found["job-without-ucx"]["finding"], f"{found}")
    check_equal(expect(recording, "intra=sm|self")[1]["result"], "unproven", "result")


def of_files(mpi, folder):
    """Files of parameters in the home directory, and a ucx.conf in the working directory."""
    home = folder / "home"
    (home / ".openmpi").mkdir(parents=True)
    (home / ".openmpi" / "mca-params.conf").write_text("# a remark\nmpi_show_handle_leaks = 0\nmy_token=1\n")
    (home / "ucx.conf").write_text("[a section]\nUCX_MAX_RNDV_RAILS = 3\nOTHER=1\n")
    _, recording = record_well(folder / "files", mpi.job("exchange"), cwd=home,
                               env={"HOME": str(home), "UCX_TLS": "sm,self"})
    rows = {(row["from"], row["name"]): row["value"] for row in recording.info["settings"]}
    of_file = rows.get(("mpi_file", "OMPI_MCA_mpi_show_handle_leaks"))
    check_equal(of_file, "0" if mpi.transport_options else None, "a parameter of Open MPI")
    check_equal(rows[("ucx_file", "UCX_MAX_RNDV_RAILS")], "3", "of ucx.conf")
    check(not any("token" in name or name == "OTHER" for _, name in rows), f"{rows}")


def body(name):
    mpi = MPIS[name]
    with scratch() as folder:
        for case in (of_shared_memory, of_tcp, of_one_rank, without_ucx, of_files):
            case(mpi, folder)


run_test(body)
