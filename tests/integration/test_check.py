"""`uctrace check` says before a job what would go wrong, and how to fix it: each case breaks one thing,
and the finding about it must appear, with its reason and a fix."""

import json
import os
import shlex
import shutil
import subprocess

from harness import LIBRARY, PROGRAMS, TOOL, Skip, check, check_equal, need, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_command

PROBLEM = 1
GRADES = ("ok", "warning", "problem")


def findings(*words, **options):
    """The findings of check as JSON, by id ("" for ok), compared with its exit status."""
    words = list(words)
    dashes = words.index("--") if "--" in words else len(words)
    words[dashes:dashes] = ["--format", "json"]
    result = run([TOOL, "check", *words], **options)
    try:
        said = json.loads(result.stdout)
    except json.JSONDecodeError as error:
        check(False, f"no JSON ({error}): {result}")
    check_equal(said["schema"], 1, "schema")
    grades = [finding["grade"] for finding in said["findings"]]
    check(grades and set(grades) <= set(GRADES), f"grades: {result}")
    worst = max(grades, key=GRADES.index)
    check_equal(said["result"], worst, "the result is the worst grade")
    check_equal(result.status, PROBLEM if worst == "problem" else 0, f"exit status: {result}")
    check_equal(result.stderr, "", f"standard error: {result}")
    by_id = {}
    for finding in said["findings"]:
        good = finding["grade"] == "ok"
        for key in ("id", "why", "fix"):
            check((finding[key] is None) == good, f"{key} of {finding}")
        check(finding["subject"] and finding["found"], f"nothing is said: {finding}")
        check(good or finding["id"].startswith(finding["subject"] + "-"), f"subject of {finding}")
        by_id.setdefault(finding["id"] or "", []).append(finding)
    return by_id


def expect(trouble, grade, *words, **options):
    found = findings(*words, **options)
    check(trouble in found, f"{trouble} is not among {sorted(found)}: {found.get('')}")
    check_equal(found[trouble][0]["grade"], grade, f"grade of {trouble}")
    return found[trouble][0]


def said_ok(found, subject, *parts):
    texts = [f["found"] for f in found.get("", []) if f["subject"] == subject]
    check(any(all(part in text for part in parts) for text in texts),
          f"{subject}: {parts} not among {texts}; {found.keys()}")


def problems(found):
    return [f for of_id in found.values() for f in of_id if f["grade"] == "problem"]


def good_jobs(folder):
    for mpi in MPIS.values():
        try:
            job = mpi.job("exchange", "x")
        except Skip:
            continue
        found = findings("--", *job, cwd=folder)
        check_equal(problems(found), [], f"problems with a good job of {mpi.name}")
        said_ok(found, "library", str(LIBRARY))
        said_ok(found, "trial", "12 messages of two processes", "identities: all")
        said_ok(found, "mpi", "use")
        said_ok(found, "ucx", "settings UCX_TLS=all", "self/memory")
    found = findings("--", PROGRAMS / "plain_ucp", cwd=folder)
    check_equal(problems(found), [], "problems with a program of UCX alone")
    said_ok(found, "trial", "12 messages")
    check_equal(list(folder.iterdir()), [], "files that check left behind")


def settings_count(_):
    found = findings("--", PROGRAMS / "plain_ucp", env={"UCX_TLS": "posix,self"})
    said_ok(found, "ucx", "UCX_TLS=posix,self")
    said_ok(found, "trial", "over posix;")
    found = findings("--", "env", "UCX_PROTO_ENABLE=y", PROGRAMS / "plain_ucp")
    said_ok(found, "ucx", "UCX_PROTO_ENABLE=y (protocols v2)")
    failed = expect("trial-failed", "problem", "--", PROGRAMS / "plain_ucp",
                    env={"UCX_TLS": "no-such-transport"})
    check("unset UCX_TLS" in failed["fix"], f"the fix: {failed}")


def parts_of_a_run(_):
    """A window, a bound or an excluded layer is reported without an alarm."""
    parts = {
        "UCTRACE_START_ON": ("pcontrol", "only windows"),
        "UCTRACE_STOP_ON": ("signal:USR2", "only windows"),
        "UCTRACE_MAX_LOG": ("65536", "only the newest events"),
        "UCTRACE_LAYERS": ("mpi", "only the layers mpi"),
    }
    for name, (value, said) in parts.items():
        found = findings("--", PROGRAMS / "plain_ucp", env={name: value})
        check_equal(problems(found), [], f"problems with {name}")
        said_ok(found, "trial", "12 messages", "identities: all")
        said_ok(found, "record", said, name)
    found = findings("--", "env", "UCTRACE_START_ON=pcontrol", PROGRAMS / "plain_ucp")
    said_ok(found, "record", "only windows", "UCTRACE_START_ON=pcontrol")
    whole = findings("--", PROGRAMS / "plain_ucp", env={"UCTRACE_STACKS": "all"})
    check_equal(problems(whole), [], "problems with stacks")
    subjects = {finding["subject"] for finding in whole[""]}
    check("record" not in subjects, f"said of a whole recording: {whole}")


def open_mpi_without_ucx(_):
    """The fix is a line that can be typed, and check agrees with it."""
    for options in ([], ["--mca", "pml", "ob1"], ["--mca", "pml_ucx_tls", "rc_verbs"]):
        job = [str(w) for w in MPIS["ompi"].job("exchange", "x", options=options)]
        told = expect("mpi-not-ucx", "problem", "--", *job)
        mended = shlex.split(told["fix"])
        check_equal([mended[0], mended[-1]], [job[0], "x"], f"ends of the fix: {told['fix']}")
        check_equal(problems(findings("--", *mended)), [], f"problems with {told['fix']}")
    refused = MPIS["ompi"].job("exchange", options=["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "rc_x",
                                                    "--mca", "pml_ucx_devices", "any"])
    expect("mpi-ucx-refused", "problem", "--", *refused)
    by_variables = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_pml_ucx_tls": "any",
                    "OMPI_MCA_pml_ucx_devices": "any"}
    found = findings("--", *MPIS["ompi"].job("exchange", options=[]), env=by_variables)
    check("mpi-not-ucx" not in found, f"variables are not heeded: {found}")
    # A machine is not a job: Open MPI's default is not a failure.
    expect("mpi-not-ucx", "warning", env={"OMPI_MCA_pml": "ob1"})


def mixed_up_launchers(_):
    expect("mpi-other-launcher", "problem", "--", need("mpiexec.mpich"), "-n", "2", PROGRAMS / "exchange.ompi")


def thin_open_mpi(folder):
    """Programs load only a thin layer of Open MPI 6, libmpi or libmpi_abi: the library below identifies
    it."""
    compiler = [need("cc"), "-Wl,--no-as-needed", f"-Wl,-rpath,{folder}"]
    (folder / "below.c").write_text('const char* version = "Open MPI repo revision: v6.0.0";\n')
    (folder / "thin.c").write_text("int MPI_Init(int* count, char*** words) { return count && words; }\n")
    (folder / "program.c").write_text("int MPI_Init(int*, char***);\nint main(void) { return MPI_Init(0, 0); }\n")
    below, thin = folder / "libopen_mpi.so.40", folder / "libmpi_abi.so.1"
    shared = [*compiler, "-shared", "-fPIC"]
    run_well([*shared, folder / "below.c", f"-Wl,-soname,{below.name}", "-o", below])
    run_well([*shared, folder / "thin.c", below, f"-Wl,-soname,{thin.name}", "-o", thin])
    run_well([*compiler, folder / "program.c", thin, "-o", folder / "program"])
    told = expect("mpi-not-asked", "warning", "--", folder / "program")
    check("this Open MPI" in told["found"] and thin.name in told["found"], f"told: {told}")


def strange_ucx(folder):
    told = expect("ucx-version", "problem", "--", PROGRAMS / "plain_ucp",
                  env={"LD_PRELOAD": str(PROGRAMS / "fake_ucx_version.so")})
    check("9.9.9" in told["found"] and "1.11 to 1.23" in told["why"], f"told: {told}")
    table = PROGRAMS / "fake_ucx_table.so"
    if table.exists():
        told = expect("trial-not-recorded", "problem", "--", PROGRAMS / "plain_ucp",
                      env={"LD_PRELOAD": str(table)})
        check("self-check" in told["why"], f"told: {told}")
    (folder / "lib").mkdir()
    (folder / "lib" / "libucp.so.0").write_text("no library\n")
    expect("ucx-missing", "problem", env={"LD_LIBRARY_PATH": str(folder / "lib"), "PATH": "/nowhere"})
    expect("mpi-none", "warning", env={"PATH": "/nowhere"})
    expect("program-libraries", "problem", "--", PROGRAMS / "plain_ucp",
           env={"LD_LIBRARY_PATH": str(folder / "lib")})


def strange_programs(folder):
    nothing = PROGRAMS / "nothing"
    expect("program-no-mpi", "warning", "--", nothing)
    expect("program-missing", "problem", "--", "./no-such-program")
    expect("program-missing", "problem", "--", "mpirun.openmpi", "-np", "2", "./no-such-program")

    def copy(name):
        return shutil.copy(nothing, folder / name)

    plain = copy("plain")
    os.chmod(plain, 0o644)
    expect("program-not-executable", "problem", "--", plain)
    set_uid = copy("set-uid")
    os.chmod(set_uid, 0o4755)
    told = expect("program-privileged", "problem", "--", set_uid)
    run_well(["sh", "-c", told["fix"].partition(": ")[2]], cwd=folder)
    check("program-privileged" not in findings("--", folder / "copy"), "the fix does not mend it")
    capable = copy("capable")
    try:  # cap_net_raw, as setcap(8) writes it
        os.setxattr(capable, "security.capability", bytes.fromhex("0100000200200000" + "00" * 12))
    except OSError as error:
        print(f"capabilities cannot be given here: {error}")
    else:
        expect("program-privileged", "problem", "--", capable)
    foreign = copy("foreign")
    with open(foreign, "r+b") as file:
        file.seek(4)  # EI_CLASS
        file.write(b"\x01")
    expect("program-foreign", "problem", "--", foreign)
    (folder / "cut").write_bytes(nothing.read_bytes()[:200])
    os.chmod(folder / "cut", 0o755)
    findings("--", folder / "cut")
    two = MPIS["ompi"].job("exchange") + [":", "-np", "1", foreign]
    expect("program-foreign", "problem", "--", *two)
    script = folder / "script"
    script.write_text("#!/usr/bin/env sh\ntrue\n")
    os.chmod(script, 0o755)
    said_ok(findings("--", "mpirun.openmpi", "-np", "2", script), "program", "is a script of")
    source = folder / "static.c"
    source.write_text("int MPI_Init(void) { return 0; }\nint main(void) { return MPI_Init(); }\n")
    compiler = [need("cc"), source, "-o"]
    run_well([*compiler, folder / "inside"])
    expect("program-mpi-inside", "problem", "--", folder / "inside")
    if subprocess.run([*compiler, folder / "static", "-static"], capture_output=True).returncode == 0:
        expect("program-static", "problem", "--", folder / "static")


def in_mounts(script, *words):
    return [need("unshare"), "--mount", "sh", "-ec", script, "sh", *words]


def strange_folders(folder):
    (folder / "taken").mkdir()
    (folder / "taken" / "thesis.tex").touch()
    expect("folder-taken", "problem", folder / "taken")
    said_ok(findings(folder / "new" / "deep"), "folder", str(folder), "left")
    check(not (folder / "new").exists(), "check made the folder")


def mounted_folders(_):
    if run(in_mounts("mount -t tmpfs tmpfs /mnt")).status != 0:
        raise Skip("private mounts are not permitted here")
    told = []
    for mount in ("mount -o remount,ro /mnt", "head -c 1m /dev/zero > /mnt/full || true",
                  "true"):
        script = f"mount -t tmpfs -o size=1m tmpfs /mnt; {mount}; \"$@\" || true"
        said = run_well(in_mounts(script, TOOL, "check", "/mnt/data", "--format", "json")).stdout
        told.append({f["id"]: f["grade"] for f in json.loads(said)["findings"]})
    check_equal(told[0].get("folder-unwritable"), "problem", f"a read-only folder: {told[0]}")
    check_equal(told[1].get("folder-full"), "problem", f"a full folder: {told[1]}")
    check_equal(told[2].get("folder-space"), "warning", f"a small folder: {told[2]}")


def limited(limit, trouble, grade="warning"):
    said = run(["sh", "-c", f"ulimit {limit}; exec '{TOOL}' check --format json"])
    told = {f["id"]: f["grade"] for f in json.loads(said.stdout)["findings"]}
    check_equal(told.get(trouble), grade, f"{limit}: {said}")


def strange_limits(_):
    limited("-n 100", "limits-files")
    limited("-v 1500000", "limits-memory")
    limited("-f 100", "limits-file-size")
    limited("-f 100", "folder-full", "problem")


def missing_parts(folder):
    alone = folder / "bin" / "uctrace"
    alone.parent.mkdir()
    shutil.copy(TOOL, alone)
    said = json.loads(run([alone, "check", "--format", "json"]).stdout)
    told = {f["id"]: f["grade"] for f in said["findings"]}
    check_equal(told.get("library-missing"), "problem", f"the command alone: {told}")
    check_equal(told.get("trial-missing"), "warning", f"the command alone: {told}")
    (alone.parent / "libuctrace.so").write_text("no library")
    said = json.loads(run([alone, "check", "--format", "json"]).stdout)
    told = {f["id"]: f["grade"] for f in said["findings"]}
    check_equal(told.get("library-not-loaded"), "problem", f"a broken library: {told}")
    spaced = folder / "a b" / "uctrace"
    spaced.parent.mkdir()
    for part in (TOOL, LIBRARY):
        shutil.copy(part, spaced.parent)
    said = json.loads(run([spaced, "check", "--format", "json"]).stdout)
    told = {f["subject"]: f for f in said["findings"]}
    check_equal(told["library"]["grade"], "ok", f"a path with a space: {told['library']}")
    check("through a link" in told["library"]["found"], f"a path with a space: {told['library']}")
    said = json.loads(run([spaced, "check", "--format", "json"],
                          env={"TMPDIR": str(spaced.parent)}).stdout)
    check("library-path" in {f["id"] for f in said["findings"]}, f"nor TMPDIR takes it: {said}")


def forms_agree(_):
    job = ["--", *MPIS["ompi"].job("exchange", options=["--mca", "pml", "ob1"])]
    whole = json.loads(run([TOOL, "check", "--format", "json", *job]).stdout)["findings"]
    rows = run([TOOL, "check", "--format", "ndjson", *job]).stdout.splitlines()
    strip = [{k: f[k] for k in ("grade", "id")} for f in whole]
    check_equal([{k: json.loads(r)[k] for k in ("grade", "id")} for r in rows], strip, "as ndjson")
    text = run([TOOL, "check", *job]).stdout
    check_equal(text.count("why: "), sum(f["grade"] != "ok" for f in whole), f"text: {text}")
    for finding in whole:
        check(finding["grade"] == "ok" or f"({finding['id']})" in text, f"{finding} in {text}")
    first = run([TOOL, "check", "--format", "ndjson", "--limit", "1", *job])
    check_equal(json.loads(first.stdout)["grade"], "problem", "a cut list begins with the worst")
    check_equal(first.status, PROBLEM, "exit status of a cut list")


def what_is_said_comes_true(folder):
    """The same job, recorded: check's promises and warnings come true."""
    bad = MPIS["ompi"].job("allreduce", 1024, 2, options=["--mca", "pml", "ob1"])
    expect("mpi-not-ucx", "problem", "--", *bad)
    check("did not use UCX" in run_well(record_command(folder / "bad", bad)).stderr, "record agrees")
    good = MPIS["ompi"].job("allreduce", 1024, 2)
    check_equal(problems(findings("--", *good)), [], "problems of a good job")
    check("warning" not in run_well(record_command(folder / "good", good)).stderr, "record agrees")


CASES = {
    "machine": (good_jobs, settings_count, parts_of_a_run, forms_agree, what_is_said_comes_true),
    "mpi": (open_mpi_without_ucx, mixed_up_launchers, thin_open_mpi, strange_ucx),
    "surroundings": (strange_programs, strange_folders, strange_limits, missing_parts),
    "mounts": (mounted_folders,),
}


def check_tells(subject):
    for case in CASES[subject]:
        with scratch() as folder:
            case(folder)


run_test(check_tells)
