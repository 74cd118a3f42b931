"""`uctrace build-ucx`: its errors for bad inputs, before anything is built, and that it leaves nothing
behind. A real build is made once for all tests (ucx_build.py)."""

import io
import os
import shutil
import signal
import tarfile

from harness import (SOURCE_ROOT, TOOL, Failure, check, check_equal, finish, need, run, run_test,
                     run_well, scratch, started, wait_until)

FAILED = 125
PATCH = SOURCE_ROOT / "patches" / "ucx-hooks.patch"


def configure_ac(version):
    parts = zip(("major", "minor", "patch"), version.split("."))
    return "".join(f"define([ucx_ver_{name}], {number})\n" for name, number in parts)


def make_tree(folder, version, uct_h="/* uct.h */\n"):
    """Looks like a UCX of this version, but is not."""
    (folder / "src" / "uct" / "api").mkdir(parents=True)
    (folder / "src" / "uct" / "api" / "uct.h").write_text(uct_h)
    (folder / "configure.ac").write_text(configure_ac(version))
    return folder


def refused(folder, *arguments, saying, env=None):
    """The command fails with the tool's own status, prints all this, and leaves no build."""
    prefix = folder / "prefix"
    result = run([TOOL, "build-ucx", "--prefix", prefix, *arguments], env=env, cwd=folder)
    check_equal(result.status, FAILED, f"exit status: {result}")
    check_equal(result.stdout, "", f"standard output: {result}")
    for part in saying:
        check(part in result.stderr, f"{part!r} is not said: {result}")
    check(not prefix.exists(), f"there is a prefix: {result}")
    check(not (folder / "prefix.building").exists(), f"there is a build folder: {result}")
    return result


def no_sources(folder):
    refused(folder, "/nonexistent/ucx", saying=["there is no such file or folder"])
    (folder / "empty").mkdir()
    refused(folder, "empty", saying=["there is no configure.ac", "top folder of UCX's sources"])
    refused(folder, "/dev/null", saying=["neither a folder nor a file"])
    make_tree(folder / "strange", "1.16.0")
    (folder / "strange" / "configure.ac").write_text("AC_INIT([other])\n")
    refused(folder, "strange", saying=["does not say which UCX it is"])
    refused(folder, "", saying=["its value is empty"])


def wrong_versions(folder):
    for version in ("1.11.2", "1.24.0", "2.12.0", "0.9.0"):
        tree = make_tree(folder / version, version)
        refused(folder, tree, saying=[f"it is UCX {version}", "UCX 1.12 to 1.23"])
    check("plain `uctrace record`" in refused(folder, folder / "1.11.2", saying=[]).stderr, "1.11")
    run_well(["tar", "-czf", folder / "old.tgz", "-C", folder, "1.11.2"])
    refused(folder, "old.tgz", saying=["it is UCX 1.11.2", "UCX 1.12 to 1.23"])


def patched_or_foreign(folder):
    """Refused completely: SOURCE is unchanged, and the place that does not fit is named."""
    patched = make_tree(folder / "patched", "1.16.0", "extern int *uct_tool_ops;\n")
    refused(folder, patched, saying=["it is patched already", "as they were released"])
    other = make_tree(folder / "other", "1.16.0")
    result = refused(folder, other, saying=["cannot patch", "does not fit", "src/uct/api/uct.h, hunk"])
    check("src/ucp/core/ucp_request.c, which is missing" in result.stderr, f"missing files: {result}")
    check_equal((other / "src/uct/api/uct.h").read_text(), "/* uct.h */\n", "SOURCE is changed")
    check_equal(sorted(p.name for p in other.rglob("*") if p.is_file()), ["configure.ac", "uct.h"],
                "files in SOURCE")


def bad_tarballs(folder):
    (folder / "random.tar.gz").write_bytes(os.urandom(4096))
    refused(folder, "random.tar.gz", saying=["tar cannot read it"])
    (folder / "empty.tar").touch()
    refused(folder, "empty.tar", saying=["empty.tar"])
    whole = folder / "whole.tar.gz"
    make_tree(folder / "ucx-1.16.0", "1.16.0")
    run_well(["tar", "-czf", whole, "-C", folder, "ucx-1.16.0"])
    (folder / "cut.tar.gz").write_bytes(whole.read_bytes()[:-40])
    refused(folder, "cut.tar.gz", saying=["tar cannot read it"])
    run_well(["tar", "-cf", folder / "other.tar", "-C", folder, "whole.tar.gz"])
    refused(folder, "other.tar", saying=["no source of UCX"])
    refused(folder, whole, saying=["cannot patch", "does not fit"])  # read well, but no UCX


def hostile_tarballs(folder):
    """Nothing of theirs is written anywhere."""
    for name in ("../outside", "ucx/../../outside", f"{folder}/outside"):
        with tarfile.open(folder / "hostile.tar", "w") as archive:
            for path, text in (("ucx/configure.ac", configure_ac("1.16.0")), (name, "hostile\n")):
                entry = tarfile.TarInfo(path)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        refused(folder, "hostile.tar", saying=["leads out of its folder"])
        check(not list(folder.parent.glob("outside")) and not (folder / "outside").exists(), name)
    # A link that leads outside, and a file through it.
    with tarfile.open(folder / "link.tar", "w") as archive:
        for path, text in (("ucx/configure.ac", configure_ac("1.16.0")),
                           ("ucx/src/uct/api/uct.h", "/* */\n")):
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("ucx/way-out")
        link.type, link.linkname = tarfile.SYMTYPE, str(folder)
        archive.addfile(link)
        entry = tarfile.TarInfo("ucx/way-out/outside")
        entry.size = 0
        archive.addfile(entry, io.BytesIO())
    refused(folder, "link.tar", saying=[])
    check(not (folder / "outside").exists(), "a file was written through a link")


def missing_tools(folder):
    """All at once, with the line that installs them."""
    tree = make_tree(folder / "ucx", "1.16.0")
    refused(folder, tree, env={"PATH": "/nonexistent"},
            saying=["not in PATH: gcc, g++, make, patch, autoconf, automake, libtoolize;",
                    "apt-get install gcc g++ make patch autoconf automake libtool"])
    tools = folder / "bin"
    tools.mkdir()
    for name in ("gcc", "g++", "make", "autoconf", "libtoolize", "tar", "sh"):
        (tools / name).symlink_to(need(name))
    told = refused(folder, tree, env={"PATH": str(tools)},
                   saying=["not in PATH: patch, automake;", "apt-get install patch automake."])
    check("gcc" not in told.stderr, f"gcc is there: {told}")
    refused(folder, env={"PATH": str(tools)}, saying=["this distribution has no dpkg-query",
                                                      "uctrace build-ucx FOLDER"])


def bad_places(folder):
    tree = make_tree(folder / "ucx", "1.16.0")
    taken = folder / "taken"
    taken.mkdir()
    (taken / "thesis.tex").touch()

    def told(prefix, env=None):
        words = [TOOL, "build-ucx", tree] + (["--prefix", prefix] if prefix else [])
        result = run(words, cwd=folder, env=env)
        check_equal(result.status, FAILED, f"exit status: {result}")
        return result.stderr

    check("was not put there by" in told(taken), "a folder of the user's")
    check((taken / "thesis.tex").exists(), "the user's file is gone")
    check("cannot do with a space" in told(folder / "a b"), "a space")
    check("cannot build for" in told("/proc/ucx"), "a place that takes no folder")
    check("HOME is not set" in told(None, env={"HOME": "", "XDG_DATA_HOME": ""}), "no HOME")


def bad_ucx_info(folder):
    tree = make_tree(folder / "ucx", "1.16.0")
    refused(folder, tree, "--ucx-info", "/nonexistent/ucx_info", saying=["is no program"])
    refused(folder, tree, "--ucx-info", need("true"), saying=["does not answer as ucx_info does"])


def forever():
    """A unique number of seconds, to identify this test's process."""
    return f"600.{os.getpid()}"


def slow_tree(folder):
    """Looks like a UCX, can be patched, and its first build step never ends by itself."""
    tree = make_tree(folder / "slow", "1.16.0", "")
    (tree / "src" / "uct" / "api" / "uct.h").unlink()
    tools = folder / "bin"
    tools.mkdir()
    for name in ("gcc", "g++", "make", "autoconf", "automake", "libtoolize", "sh", "sleep", "touch"):
        (tools / name).symlink_to(need(name))
    (tools / "patch").write_text("#!/bin/sh\nexit 0\n")
    (tools / "autoreconf").write_text(f"#!/bin/sh\nsleep {forever()} &\ntouch {folder}/reached\nwait\n")
    for name in ("patch", "autoreconf"):
        (tools / name).chmod(0o755)
    make_tree(tree / "again", "1.16.0")
    shutil.move(tree / "again" / "src" / "uct" / "api" / "uct.h", tree / "src" / "uct" / "api")
    return tree, {"PATH": str(tools)}


def interrupted(folder):
    """Ctrl-C in the middle of a step: all it started ends, and nothing is left."""
    tree, environment = slow_tree(folder)
    before = sorted(p.name for p in folder.iterdir())
    with started([TOOL, "build-ucx", tree, "--prefix", folder / "prefix"], env=environment) as process:
        wait_until((folder / "reached").exists, "the step did not begin")
        other = run([TOOL, "build-ucx", tree, "--prefix", folder / "prefix"], env=environment)
        check("another `uctrace build-ucx`" in other.stderr, f"two builds at a time: {other}")
        process.send_signal(signal.SIGINT)
        result = finish(process)
    check_equal(result.status, 128 + signal.SIGINT, f"exit status: {result}")
    check("nothing of the build is left" in result.stderr, f"what it says: {result}")
    left = sorted(p.name for p in folder.iterdir())
    check_equal(left, sorted([*before, "reached"]), "files that are left")
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                command = open(f"/proc/{entry}/cmdline").read()
            except OSError:
                continue
            check(forever() not in command, f"still running: {command}")


def failing_steps(folder):
    """The error shows the log's path and end, and the package that may be missing."""
    tree, environment = slow_tree(folder)
    autoreconf = folder / "bin" / "autoreconf"
    autoreconf.write_text("#!/bin/sh\necho first line\n"
                          "echo 'configure.ac:9: error: possibly undefined macro: LT_INIT'\nexit 1\n")
    result = run([TOOL, "build-ucx", tree, "--prefix", folder / "prefix"], env=environment)
    check_equal(result.status, FAILED, f"exit status: {result}")
    log = folder / "prefix.log"
    for part in ("first line", "cannot make configure", "LT_INIT", "libtool", str(log)):
        check(part in result.stderr, f"{part!r} is not said: {result}")
    check("first line" in log.read_text(), "the log has the output")
    check(not (folder / "prefix").exists(), "there is a prefix")
    check(not (folder / "prefix.building").exists(), "there is a build folder")
    kept = run([TOOL, "build-ucx", tree, "--prefix", folder / "prefix", "--keep"], env=environment)
    check((folder / "prefix.building" / "ucx" / "configure.ac").exists(), f"--keep: {kept}")


CASES = (no_sources, wrong_versions, patched_or_foreign, bad_tarballs, hostile_tarballs, missing_tools,
         bad_places, bad_ucx_info, interrupted, failing_steps)


def bad_inputs_are_told():
    for case in CASES:
        with scratch() as folder:
            try:
                case(folder)
            except Failure as failure:
                raise Failure(f"{case.__name__}: {failure}") from None


run_test(bad_inputs_are_told)
