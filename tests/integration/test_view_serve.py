"""`uctrace view --serve`: the page and spans of it over HTTP, only to clients that know the address; and what clients
are told of a store that is damaged meanwhile."""

import os
import shutil

from harness import BUILD_ROOT, SKIPPED, TOOL, Skip, check, check_equal, need, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from page import data_of
from recordings import record_well
from served_pages import serving
from stores import generate

LIMIT = 300
BROWSER_TEST = BUILD_ROOT / "viewer" / "npm" / "tests" / "served.mjs"
DAMAGED_TEST = BROWSER_TEST.with_name("damaged.mjs")


def same_as_files(server, recording, folder):
    """The served page equals that in a file, except for the mark that it is served."""
    for words, span in (([], ""), (["--from", "1us", "--to", "30ms"], "1000-30000000")):
        file = folder / "page.html"
        written = recording.ask("view", "-o", file, "--limit", LIMIT, *words)
        check_equal(written.status, 0, f"the page of {words}")
        expected, served = data_of(file.read_text()), data_of(server.page(span))
        check_equal((expected.pop("served"), served.pop("served")), (False, True), "served")
        check_equal(served, expected, f"the page of {words}")


def refused(server):
    """Without the token nothing is served; nor to a page of another origin."""
    token = server.url.path
    for path in ("/", "/metrics", token[:-1], "/" + "0" * 32 + "/", f"/{token}", token.upper() if token != token.upper() else token.replace(token[1], "f", 1)):
        answer, text = server.ask(path)
        check(answer.status == 403 and "uctrace-data" not in text, f"{path}: {answer.status} {text[:100]}")
    for headers in ({"Origin": "http://example.com"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"},
                    {"Sec_Fetch_Site": "same-site"}, {"Host": f"rebound.example:{server.url.port}"}):
        answer, text = server.ask(token, **headers)
        check(answer.status == 403 and "uctrace-data" not in text, f"{headers}: {answer.status} {text[:100]}")
    check_equal(server.ask(token, method="POST")[0].status, 405, "POST")
    check_equal(server.ask(token + "5-5")[0].status, 404, "an empty span")
    answer, _ = server.ask(token, method="HEAD")
    check_equal(answer.status, 200, "HEAD")
    policy = answer.getheader("Content-Security-Policy")
    check("default-src 'none'" in policy and "frame-ancestors 'none'" in policy, policy)
    check_equal(answer.getheader("Referrer-Policy"), "no-referrer", "the address goes to no one")


def wrong_options(folder):
    for words, said in ((["--serve", "-o", "x.html"], "with --serve no file is written"),
                        (["--port", "80"], "nothing is served, as --serve is missing"),
                        (["--serve", "--port", "65536"], "greater than 65535"),
                        (["--serve", folder / "none"], "none")):
        result = run([TOOL, "view", *words])
        check(result.status == 125 and said in result.stderr, f"{words}: {result}")


def in_browser(server, script=BROWSER_TEST):
    result = run([need("node"), script, server.line], timeout=150)
    if result.status == SKIPPED:
        raise Skip(result.stdout.strip())
    check(result.status == 0, f"the page is wrong: {result}")


def overwrite(store, content, at=0):
    """In place, as a program does that does not know what it writes into."""
    with open(store, "r+b") as file:
        file.seek(at)
        file.write(content)


def replace(store, other):
    """As a merge does it."""
    new = store.with_name("new")
    shutil.copy(other, new)
    new.rename(store)


# What may happen to a store, and whether it happens to the file that is open.
CHANGES = (("cut", True, lambda store, _: os.truncate(store, store.stat().st_size // 2)),
           ("overwritten", True, lambda store, _: overwrite(store, b"\xa5" * 100_000, store.stat().st_size // 3)),
           ("overwritten by another store", True, lambda store, other: overwrite(store, other.read_bytes())),
           ("removed", False, lambda store, _: store.unlink()),
           ("replaced", False, replace))
SAID = ("cannot read the store ", "; merge the logs again with `uctrace merge`, and start `uctrace view --serve` again.")


def check_answer(answer, before, damaged, what):
    """What was asked for, as it was before; where the store cannot be read, why, and what to do. Whether it could."""
    (reply, text), (_, expected) = answer, before
    if damaged and text != expected:
        check(all(words in text for words in SAID), f"{what}: {reply.status} {text[:300]}")
        check(reply.status == (200 if text.startswith('uctraceTile({"failure":') else 500), f"{what}: {reply.status}")
        return False
    check_equal((reply.status, text), (200, expected), what)
    return True


def told_of_damage(folder):
    """Never a sum that is wrong: what was not read yet is an error."""
    whole, other, copy = folder / "whole", folder / "other", folder / "copy"
    store = copy / "run.h5"
    for seed, data in ((1, whole), (2, other)):
        generate(data, 20000, "--seed", seed)
        run_well([TOOL, "merge", data])
    for options, paths in (([], ["1000-30000000"]), (["--tiles"], ["tiles/0.js", "tiles/2.js"])):
        def serve():
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir()
            shutil.copy(whole / "run.h5", store)
            # Else its time of change might be that of what happens to it, by a clock that is not read often.
            os.utime(store, (1, 1))
            return serving(copy, "--limit", LIMIT, *options)

        def ask(server):
            return {path: server.ask(server.url.path + path) for path in paths}

        with serve() as server:
            before = ask(server)
        for what, damages, change in CHANGES:
            with serve() as server:
                first = server.page()
                change(store, other / "run.h5")
                check_equal(server.page(), first, f"the page, made before the store was {what}")
                readable = [check_answer(answer, before[path], damages, f"{path} of a store that was {what}")
                            for path, answer in ask(server).items()]
                check_equal(not all(readable), damages, f"something cannot be read of a store that was {what}")
                if options and what == "overwritten":
                    in_browser(server, DAMAGED_TEST)
                server.stop()


def view_serve():
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS["ompi"].job("exchange"))
        with serving(recording.folder, "--limit", LIMIT) as server:
            same_as_files(server, recording, folder)
            refused(server)
            in_browser(server)
            server.stop()
        check(not (recording.folder / "report.html").exists(), "no page was written")
        wrong_options(folder)
        told_of_damage(folder)


run_test(view_serve)
