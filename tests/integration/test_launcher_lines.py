"""Launcher lines whose remote sides start with an empty environment: each rank on both "hosts" is
recorded, and the user's LD_PRELOAD and variables are unchanged."""

from checks import check_complete
from harness import TOOL, check, check_equal, run_test, run_well, scratch
from launchers import SHOW, launcher_version, open_mpi_settings, two_hosts, write_script
from mpi_jobs import MPIS
from recordings import record_well

USERS = "libm.so.6"  # any library; loading it changes nothing
RANKS = 2


def shown(result):
    """The LD_PRELOAD and OWN of each rank, without what uctrace added."""
    library = str(TOOL.parent / "libuctrace.so")
    lines = []
    for line in result.stdout.splitlines():
        if line.startswith("preload="):
            check(line.count(library) <= 1, f"uctrace's library is there twice: {line}")
            theirs = line.replace(f"preload={library}", "preload=", 1).replace("=:", "=", 1)
            lines.append(theirs)
    return sorted(lines)


def open_mpi_lines(folder, job):
    mpirun = two_hosts("ompi", folder)
    tune = folder / "tune.conf"
    tune.write_text(f"-x LD_PRELOAD={USERS} -x OWN=tuned\n")
    app = folder / "app file"
    app_lines = [
        "# two parts",
        f"-np 1 {' '.join(map(str, job))}",
        "",
        f"-np 1 -x LD_PRELOAD={USERS} -x OWN=app {' '.join(map(str, job))}",
    ]
    own, parts_env = [], {}
    if launcher_version("ompi") >= (5, 0):
        own = open_mpi_settings()
        # 5.0.7 crashes on lines with parts: in the plug-in that informs processes about parts.
        parts_env = {"PMIX_MCA_pmdl": "^ompi"}
        # It takes no comments and no empty lines.
        settings = " ".join(own)
        app_lines = [line.replace("-np 1", f"-np 1 {settings}") for line in app_lines[1::2]]
    app.write_text("\n".join(app_lines) + "\n")
    listed = f"OWN=listed;LD_PRELOAD={USERS}"
    return {
        "plain": ([*mpirun, "-np", 2, *job], {}),
        "own -x": ([*mpirun, "-x", "OWN=1", "-x", f"LD_PRELOAD={USERS}", "-np", 2, *job], {}),
        "-x from the environment": (
            [*mpirun, "-x", "LD_PRELOAD", "-np", 2, *job],
            {"LD_PRELOAD": USERS},
        ),
        "parts": (
            [*mpirun, "-np", 1, *job, ":", *own, "-x", "OWN=2", "-np", 1, *job],
            parts_env,
        ),
        "list": ([*mpirun, "--mca", "mca_base_env_list", listed, "-np", 2, *job], {}),
        "list in the environment": (
            [*mpirun, "-np", 2, *job],
            {"OMPI_MCA_mca_base_env_list": listed},
        ),
        "tune file": ([*mpirun, "--tune", tune, "-np", 2, *job], {}),
        "app file": ([*mpirun, "--app", app], parts_env),
        "commands in front": (
            ["env", "-u", "OWN", "timeout", 50, *mpirun, "-x", f"LD_PRELOAD={USERS}", "-np", 2, *job],
            {"OWN": "1"},
        ),
    }


def mpich_lines(folder, job):
    mpiexec = two_hosts("mpich", folder)
    parts = folder / "parts"
    # For MPICH 4.2 the end of a line is a blank, for 4.0 it ends a part.
    colon = " :" if launcher_version("mpich") >= (4, 2) else ""
    parts.write_text(
        f"-n 1 -env LD_PRELOAD {USERS} {' '.join(map(str, job))}{colon}\n"
        f"-n 1 -envnone -env OWN conf {' '.join(map(str, job))}\n"
    )
    return {
        "plain": ([*mpiexec, "-n", 2, *job], {}),
        "nothing": ([*mpiexec, "-genvnone", "-genv", "OWN", 1, "-n", 2, *job], {}),
        # MPICH 4.0.2 loses a listed variable if it is the last in the environment.
        "list": ([*mpiexec, "-genvlist", "OWN", "-n", 2, *job], {"OWN": "listed", "LAST": "1"}),
        "own LD_PRELOAD": ([*mpiexec, "-genv", "LD_PRELOAD", USERS, "-n", 2, *job], {}),
        "parts": ([*mpiexec, "-n", 1, "-envnone", *job, ":", "-n", 1, "-env", "OWN", 2, *job], {}),
        "configuration file": ([*mpiexec, "-configfile", parts], {}),
        "HYDRA_ENV": ([*mpiexec, "-n", 2, *job], {"HYDRA_ENV": "none"}),
    }


def lines_are_edited(mpi_name):
    with scratch() as folder:
        program = MPIS[mpi_name].job("allreduce")[-1]
        show = write_script(folder / "show.sh", SHOW)
        lines = {"ompi": open_mpi_lines, "mpich": mpich_lines}[mpi_name]
        for name, (line, env) in lines(folder, [show, program, 64]).items():
            alone = run_well(line, env=env)
            result, recording = record_well(folder / "data", line, env=env)
            check_equal(shown(result), shown(alone), f"what the ranks get: {name}")
            check("warning" not in result.stderr, f"{name}: {result}")
            check_complete(recording.info, processes=RANKS)


run_test(lines_are_edited)
