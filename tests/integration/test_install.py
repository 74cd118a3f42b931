"""An installation may be put anywhere: installed for one prefix and moved to another place, everything
works from there, also through a symbolic link, and no file knows where it was built."""

import re
import shutil

from checks import check_complete
from harness import BUILD_ROOT, PROGRAMS, SOURCE_ROOT, check, check_equal, need, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording


def install(folder):
    """The moved prefix."""
    run_well([need("meson"), "install", "-C", BUILD_ROOT, "--no-rebuild", "--strip",
              "--destdir", folder / "staged"])
    tools = [path for path in (folder / "staged").rglob("bin/uctrace") if path.is_file()]
    check_equal(len(tools), 1, "installed commands")
    prefix = folder / "moved" / "uctrace"
    prefix.parent.mkdir()
    shutil.move(tools[0].parents[1], prefix)
    shutil.rmtree(folder / "staged")
    return prefix


def files_know_no_place(prefix, folder):
    places = [str(place).encode() for place in (BUILD_ROOT, SOURCE_ROOT, folder / "staged")]
    for path in prefix.rglob("*"):
        if not path.is_file():
            continue
        content = path.read_bytes()
        for place in places:
            check(place not in content, f"{path.name} knows {place.decode()}")
        if content.startswith(b"\x7fELF"):
            dynamic = run_well([need("readelf"), "--dynamic", "--wide", path]).stdout
            check(not re.search(r"R(UN)?PATH", dynamic), f"{path.name} has a path: {dynamic}")


def verbs_work(tool, folder):
    job = MPIS["ompi"].job("exchange", folder / "truth")
    data = folder / "data"
    told = run_well([tool, "record", "-v", "-o", data, "--", *job], cwd=folder).stderr
    check(str(BUILD_ROOT) not in told.partition("LD_PRELOAD=")[2].splitlines()[0],
          f"the library of the build folder is loaded: {told}")
    check_complete(Recording(data).info)
    checked = run_well([tool, "check", "--", *job], cwd=folder).stdout
    check("identities: all" in checked, f"the trial of check: {checked}")
    check(str(BUILD_ROOT) not in checked.replace(str(PROGRAMS), ""), f"the build folder: {checked}")
    for verb, *options in (["report"], ["messages", "--limit", "1"], ["info"], ["merge"]):
        check(run_well([tool, verb, data, *options]).stdout, f"{verb} is silent")
    run_well([tool, "view", data, "-o", folder / "page.html"])
    check((folder / "page.html").stat().st_size > 50_000, "the page is too small to be one")


def manual_is_found(prefix):
    man = need("man")
    pages = prefix / "share" / "man"
    overview = run_well([prefix / "bin" / "uctrace"]).stdout.partition("Examples:")[0]
    verbs = [verb for verb in re.findall(r"^  uctrace ([\w-]+)", overview, re.MULTILINE) if verb != "help"]
    check("record" in verbs, f"no verbs in {overview}")
    for page in ["uctrace", *(f"uctrace-{verb}" for verb in verbs)]:
        text = run_well([man, "-M", pages, page], env={"MANPAGER": "cat", "PAGER": "cat"}).stdout
        check(page.upper() in text.upper() and "SEE ALSO" in text, f"man {page}: {text[:200]}")


def completion_is_in_place(prefix):
    for script in ("bash-completion/completions/uctrace", "zsh/site-functions/_uctrace",
                   "fish/vendor_completions.d/uctrace.fish"):
        check((prefix / "share" / script).is_file(), f"no {script}")


def installation_is_relocatable():
    with scratch() as folder:
        prefix = install(folder)
        files_know_no_place(prefix, folder)
        verbs_work(prefix / "bin" / "uctrace", folder)
        home = folder / "home" / "bin"
        home.mkdir(parents=True)
        (home / "uctrace").symlink_to(prefix / "bin" / "uctrace")
        shutil.rmtree(folder / "data")
        verbs_work(home / "uctrace", folder)
        manual_is_found(prefix)
        completion_is_in_place(prefix)


run_test(installation_is_relocatable)
