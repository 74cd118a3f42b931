"""`uctrace view --serve`: the page and spans of it over HTTP, to whoever knows the address and to no one else."""

from harness import BUILD_ROOT, SKIPPED, TOOL, Skip, check, check_equal, need, run, run_test, scratch
from mpi_jobs import MPIS
from page import data_of
from recordings import record_well
from served_pages import serving

LIMIT = 300
BROWSER_TEST = BUILD_ROOT / "viewer" / "npm" / "tests" / "served.mjs"


def same_as_files(server, recording, folder):
    """What is served is the page that a file has, but for the word that it is served."""
    for words, span in (([], ""), (["--from", "1us", "--to", "30ms"], "1000-30000000")):
        file = folder / "page.html"
        written = recording.ask("view", "-o", file, "--limit", LIMIT, *words)
        check_equal(written.status, 0, f"the page of {words}")
        expected, served = data_of(file.read_text()), data_of(server.page(span))
        check_equal((expected.pop("served"), served.pop("served")), (False, True), "served")
        check_equal(served, expected, f"the page of {words}")


def refused(server):
    """Without the token nobody learns what is served; nor does the page of another origin."""
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


def in_browser(server):
    result = run([need("node"), BROWSER_TEST, server.line], timeout=150)
    if result.status == SKIPPED:
        raise Skip(result.stdout.strip())
    check(result.status == 0, f"the page is wrong: {result}")


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


run_test(view_serve)
