"""Debian's packages of another release, unpacked and not installed: its UCX has a row in ucx-facts and no
function that nobody looked at, its MPIs are as the tables of mpi-attribution say.

    test_system_packages.py SUITE

Of a release that goes on changing a package may be newer than any that tests/systems/run was run with: then
what is found wrong is a skip that says so."""

import json
import re
import sys

from harness import SOURCE_ROOT, Skip, check, check_equal, need, run, run_test, run_well, scratch

sys.path[:0] = [str(SOURCE_ROOT / "tests" / "unit"), str(SOURCE_ROOT / "mpi-attribution")]
import mpi_table_test as table_test  # noqa: E402
import mpi_tables  # noqa: E402

# Where a package has its header, and whose constants they are: first match.
HEADERS = {"libucx-dev": {"UCX": "usr/include"},
           "libopenmpi-dev": {"Open MPI": "usr/lib/*/openmpi/include",
                              "Open MPI, standard ABI": "usr/lib/*/openmpi/include/standard_abi"},
           "libmpich-dev": {"MPICH": "usr/include/*/mpich",
                           "MPICH, standard ABI": "usr/lib/*/mpi_abi_mpich/include"}}
MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def apt(folder, *words):
    """With a state of its own: what is installed here does not matter to it, nor it to what is."""
    options = {"Dir::State": folder, "Dir::State::lists": folder / "lists", "Dir::State::status": folder / "status",
               "Dir::Cache": folder / "cache", "Dir::Etc::sourcelist": folder / "list", "Dir::Etc::sourceparts": "-",
               "Acquire::Languages": "none", "Acquire::Retries": 1, "Acquire::http::Timeout": 20,
               "Acquire::Check-Valid-Until": "false", "Debug::NoLocking": "true", "APT::Sandbox::User": "root"}
    return run([need("apt-get"), "-q", *(f"-o{name}={value}" for name, value in options.items()), *words],
               cwd=folder, timeout=120)


def unpack_packages(suite, folder):
    """{package: version}, unpacked to folder/root."""
    state = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True)
    (state / "status").touch()
    (state / "list").write_text(f"deb [signed-by={KEYRING}] {MIRROR} {suite} main\n")
    for words in (["update", "--error-on=any"], ["download", *HEADERS]):
        done = apt(state, *words)
        if done.status != 0:
            raise Skip(f"packages of {suite} are not to be had from {MIRROR}: {done.stderr.strip().splitlines()[-1:]}")
    versions = {}
    for package in state.glob("*.deb"):
        name, version = run_well(["dpkg-deb", "-W", package]).stdout.split()
        versions[name] = version
        run_well(["dpkg-deb", "-x", package, folder / "root"])
    check_equal(set(versions), set(HEADERS), "packages")
    return versions


def headers_of(root):
    """(name, folder) of each header that is there."""
    for places in HEADERS.values():
        for name, pattern in places.items():
            for place in root.glob(pattern):
                yield name, place


def problems_of_ucx(include):
    text = (include / "ucp" / "api" / "ucp_version.h").read_text()
    minor = int(re.search(r"define UCP_API_MINOR\s+(\d+)", text)[1])
    rows = (SOURCE_ROOT / "ucx-facts" / "releases.hpp").read_text()
    if not re.search(rf"^    {{{minor}, true, ", rows, re.MULTILINE):
        yield f"UCX 1.{minor} has no row in ucx-facts/releases.hpp"
    census = run([sys.executable, SOURCE_ROOT / "tests/integration/test_ucx_census.py", include])
    if census.status != 0:
        yield f"functions of UCX: {census.stdout} {census.stderr}"


def constants_source(names):
    lines = "\n".join(f'printf("{name} %ld\\n", (long){value});' for name, value in names.items())
    return f"#include <mpi.h>\n#include <stdio.h>\nint main(void) {{\n{lines}\nreturn 0;\n}}\n"


def problems_of_constants(library, constants, folder):
    """No function is called, so that no library is needed."""
    names = dict(table_test.INTEGERS)
    names |= {f"combiner_{name}": f"MPI_COMBINER_{table_test.macro_of(name)}"
              for name in table_test.declared_combiners(library)}
    of_addresses = {}
    for key, value in table_test.HANDLES.items():
        (names if constants[key].startswith("0x") else of_addresses)[key] = value
    source, program = folder / "constants.c", folder / "constants"
    source.write_text(constants_source(names))
    run_well([*library.compiler, "-w", source, "-o", program])
    found = dict(line.split() for line in run_well([program]).stdout.splitlines())
    for key in names:
        if int(found[key]) != int(constants[key], 0):
            yield f"{key} is {found[key]}, the table says {constants[key]}"
    for key, value in of_addresses.items():
        if constants[key] not in library.preprocess(f"#include <mpi.h>\nhere {value}").rpartition("here")[2]:
            yield f"{key} is not the address of {constants[key]}"


def problems_of_mpi(name, include, folder):
    flavour = "MPI standard ABI" if "standard" in name else name
    functions = mpi_tables.read_functions(table_test.MPI_ROOM / "mpi_functions.txt")
    constants = mpi_tables.read_flavours(table_test.MPI_ROOM / "mpi_flavours.txt")[flavour]
    not_measured, _ = table_test.read_not_measured(table_test.MPI_ROOM / "not_measured.txt")
    library = table_test.Library(name, flavour, [need("cc"), f"-I{include}"])
    declared = table_test.prototypes(library)
    present = [function for function in functions if not function.optional or function.name in declared]
    yield from table_test.check_functions(declared, present)
    yield from table_test.check_coverage({name: declared}, functions, not_measured, all_are_oldest=False)
    yield from problems_of_constants(library, constants, folder)


def noted_versions(suite):
    """Of its UCX and MPIs, when tests/systems/run last ran there."""
    noted = json.loads((SOURCE_ROOT / "tests/systems/results.json").read_text())
    return set(noted[suite]["versions"].values())


def packages_are_known(suite):
    with scratch() as folder:
        versions = unpack_packages(suite, folder)
        places = list(headers_of(folder / "root"))
        check({"UCX", "Open MPI", "MPICH"} <= {name for name, _ in places}, f"headers: {places}")
        problems = []
        for name, place in places:
            found = problems_of_ucx(place) if name == "UCX" else problems_of_mpi(name, place, folder)
            problems += [f"{name}: {problem}" for problem in found]
        told = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
        if problems and not set(versions.values()) <= noted_versions(suite):
            raise Skip(f"{suite} has packages that nobody ran yet ({told}), run tests/systems/run: {problems}")
        check_equal(problems, [], f"what is not as the tables say, with {told}")
        print(f"{told}: as the tables say; headers of {', '.join(name for name, _ in places)}")


run_test(packages_are_known)
