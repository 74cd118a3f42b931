"""Runs the README and the tutorials literally: every command line of their code blocks runs in a folder like a
built clone and shows what the document shows, and every verb, option and file that the README names exists.

Shown lines must occur in the real output, in order; other lines may be between them, because the documents
omit irrelevant ones. Numbers, the units of times, the host and the widths of columns may differ; everything
else is the same: operations, transports, functions, words."""

import os
import re
import shlex
import shutil
import socket

from harness import BUILD_ROOT, PROGRAMS, SOURCE_ROOT, TOOL, check, need, run, run_test, run_well, scratch, ucx_version
from mpi_jobs import MPIS, OPEN_MPI_OVER_UCX

README = (SOURCE_ROOT / "README.md").read_text()
TUTORIALS = ("administrators", "applications", "libraries")
SCRIPTS = ("./quickstart", "./run-tests")  # they install; what they run is tested elsewhere
HOST_IN_README = "vm"
END_OF_OUTPUT = "=== end of output ==="
TIMEOUT_S = 100


def code_blocks(text):
    """Runs of lines indented by four."""
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE):
        lines = [line[4:] for line in block.splitlines()]
        yield [line for line in lines if line.strip()]


def is_command(line):
    return line.startswith(("$ ", "./", "build/uctrace "))


def transcripts(parts):
    """For each part of a document its [(command, shown lines)]: what is typed into one shell."""
    for part in parts:
        steps = []
        for block in code_blocks(part):
            for line in block if is_command(block[0]) else []:
                if is_command(line):
                    steps.append((line.removeprefix("$ "), []))
                else:
                    steps[-1][1].append(line)
        if steps:
            yield steps


def sections_of_readme():
    return re.split(r"^## ", README, flags=re.MULTILINE)


def like(line):
    line = re.sub(rf"\b({HOST_IN_README}|{re.escape(socket.gethostname())})\b", "HOST", line)
    line = re.sub(r"\d+(\.\d+)?", "N", line)
    line = re.sub(r"\bN (ns|us|ms|s)\b", "TIME", line)
    return " ".join(line.split())


def check_shown(command, shown, output):
    lines = iter(output.splitlines())
    for line in shown:
        if line.strip() == "...":
            continue
        found = any(like(line) == like(real) for real in lines)
        check(found, f"{command}\ndoes not show, or not in this place:\n{line}\nbut:\n{output}")


def run_together(steps, folder, env):
    """The outputs of command lines typed into one shell, one after the other."""
    script = "set -e\n"
    for command, _ in steps:
        script += f"{command}\necho '{END_OF_OUTPUT}'\n"
    result = run(["bash", "-c", script], cwd=folder, env=env, timeout=TIMEOUT_S)
    check(result.status == 0, f"a command of the document failed: {result}")
    outputs = result.stdout.split(f"{END_OF_OUTPUT}\n")
    check(len(outputs) == len(steps) + 1, f"fewer outputs than commands: {result}")
    return outputs


def like_a_clone(folder):
    """A built clone as a new user sees it."""
    for entry in SOURCE_ROOT.iterdir():
        if entry.name not in ("build", ".git") and not entry.name.startswith("uctrace.data"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").symlink_to(BUILD_ROOT)


def with_mpi(mpi, folder):
    """`mpirun` means this MPI, and ./app is a program of it. Open MPI's settings are those of a site with such
    machines: UCX without a fast network, fewer cores than ranks."""
    (folder / "bin").mkdir()
    mpirun = folder / "bin" / "mpirun"  # no link: Hydra looks for its helpers beside its own name
    mpirun.write_text(f'#!/bin/sh\nexec {need(MPIS[mpi].launcher[0])} "$@"\n')
    mpirun.chmod(0o755)
    shutil.copy(PROGRAMS / f"exchange.{mpi}", folder / "app")
    env = {"PATH": f"{folder}/bin:{os.environ['PATH']}"}
    if ucx_version() >= (1, 18):
        env["UCX_PROTO_ENABLE"] = "n"  # the README shows the protocols that earlier ones choose
    if mpi == "ompi":
        env["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        env["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"  # from Open MPI 5 on
        options = OPEN_MPI_OVER_UCX[1:]
        names = [word for word in options if word != "--mca"]
        env |= {f"OMPI_MCA_{name}": value for name, value in zip(names[::2], names[1::2])}
    return env


def commands_work(parts, mpi):
    tried = 0
    with scratch() as folder:
        like_a_clone(folder)
        env = with_mpi(mpi, folder)
        for steps in transcripts(parts):
            # A tutorial builds its example; here that is built already.
            steps = [step for step in steps if not step[0].startswith((*SCRIPTS, "ninja "))]
            # A section that names an MPI need not be tried under another.
            if mpi != "ompi" and any(".openmpi" in command for command, _ in steps):
                continue
            outputs = run_together(steps, folder, env)
            for (command, shown), output in zip(steps, outputs):
                check_shown(command, shown, output)
                tried += 1
    check(tried >= 2, f"the document has only {tried} commands to try")


def scripts_are_there():
    named = {command.split()[0] for steps in transcripts(sections_of_readme()) for command, _ in steps}
    for script in SCRIPTS:
        check(script in named, f"the README does not name {script}")
        path = SOURCE_ROOT / script
        check(os.access(path, os.X_OK), f"{path} cannot be executed")
        run_well(["bash", "-n", path])


def quickstart_shows_a_run():
    """Its jobs, without what it installs and builds."""
    script = (SOURCE_ROOT / "quickstart").read_text()
    steps = "source scripts/steps.bash"
    check(steps in script, f"quickstart does not say {steps}")
    with scratch() as folder:
        like_a_clone(folder)
        script = script.replace(steps, "run_step() { :; }").replace('cd "$(dirname "$0")"', "")
        script = script.replace("build/quickstart.log", "quickstart.log")
        result = run(["bash", "-c", script], cwd=folder, timeout=TIMEOUT_S)
        check(result.status == 0, f"quickstart failed: {result}")
        for words in ("Top contenders", "identities: all", "uctrace.data/report.html"):
            check(words in result.stdout, f"quickstart does not show {words}: {result}")


def names_exist():
    for verb in set(re.findall(r"\buctrace ([a-z-]+)\b(?=[^`]*`|.*$)", README, re.MULTILINE)):
        if re.search(rf"(?:`|build/)uctrace {verb}\b", README):
            run_well([TOOL, "help", verb])
    for call in re.findall(r"(?:`|build/)uctrace ([a-z-]+ [^`\n]*)", README):
        verb, *words = shlex.split(call.partition(" -- ")[0], comments=True)
        help_text = run_well([TOOL, "help", verb]).stdout
        for option in (word.strip("[]") for word in words):
            if option.startswith("-"):
                check(option in help_text, f"uctrace {verb} has no {option}")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README):
        check((SOURCE_ROOT / target).exists(), f"the README links to {target}, which is missing")


def readme_is_true(part):
    if part == "names":
        scripts_are_there()
        names_exist()
        quickstart_shows_a_run()
    elif part in TUTORIALS:
        commands_work([(SOURCE_ROOT / f"docs/tutorial-{part}.md").read_text()], "ompi")
    else:
        commands_work(sections_of_readme(), part)


run_test(readme_is_true)
