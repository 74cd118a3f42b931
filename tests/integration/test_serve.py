"""`uctrace serve --metrics` compared with `uctrace counters`: while a job runs, after it ended or was killed, when
another one begins, for all kinds of clients, and with a real Prometheus."""

import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time
import urllib.parse
import urllib.request

from counter_files import counters
from counting_jobs import RunningJob, two_running
from harness import (BUILD_ROOT, TOOL, Skip, check, check_equal, finish, run, run_test, scratch, started,
                     wait_until)
from metrics import (CLASSIC, check_equal_counters, check_not_less, flows_of_counters, flows_of_scrape, read_metrics,
                     serving)
from mpi_jobs import MPIS
from recordings import record_command, record_well

PROMETHEUS = BUILD_ROOT / "prometheus" / "usr" / "bin"
REFUSED = 125
REQUEST_TIME_S = 5  # cli/serving/http_connection.hpp
SCRAPES = 8


def calls(scrape, function):
    return scrape.of("uctrace_mpi_calls_total", "function").get((function,), 0)


def wait_for_calls(server, job):
    """Until all ranks have sent, as the metrics say."""
    wait_until(lambda: calls(server.scrape(), "MPI_Sendrecv") >= 10 * job.ranks, "the job does not count", timeout=100)


def states(scrape):
    return {state: count for (state,), count in scrape.of("uctrace_processes", "state").items() if count}


def check_between(scrape, before, after):
    """Sums lie between those of `uctrace counters` before and after, but what waited for a rank then."""
    least, most = flows_of_counters(before), flows_of_counters(after)
    for name, flows in flows_of_scrape(scrape).items():
        for labels, (count, size) in flows.items():
            low, high = least[name].get(labels, (0, 0)), most[name][labels]
            check(low[0] <= count <= high[0] and low[1] <= size <= high[1], f"{name} {labels}: {low}, {count}, {high}")


def newer_scrape(server):
    """Of a job that goes on counting, read after the call began: a scrape may be up to 100 ms old."""
    stale, found = server.scrape().values, None

    def is_newer():
        nonlocal found
        found = server.scrape()
        return found.values != stale

    wait_until(is_newer, "metrics of a job that counts do not change")
    return found


def running(mpi):
    """It waits for the job, follows it, and keeps its last values."""
    with scratch() as folder, serving(folder / "data", "--wait") as server:
        check_equal(set(server.scrape().types), {"uctrace_unread_files", "uctrace_build"}, "before the job")
        job = RunningJob(mpi, folder)
        with started(job.command) as process:
            wait_for_calls(server, job)
            before, scrape, seen = counters(job.data), newer_scrape(server), 0
            check_between(scrape, before, counters(job.data))
            check_equal(states(scrape), {"counting": mpi.ranks}, "states")
            while seen < SCRAPES:
                last, scrape = scrape, server.scrape()
                check_not_less(last, scrape)
                seen += calls(scrape, "MPI_Bcast") > calls(last, "MPI_Bcast")
            job.stop()
            check_equal(finish(process).status, 0, "the job")
        time_of_end = server.scrape()
        wait_until(lambda: states(server.scrape()) == {"ended": mpi.ranks}, "it is not seen to have ended")
        found, end = counters(job.data), server.scrape()
        check_not_less(scrape, time_of_end)
        check_not_less(time_of_end, end)
        check_equal_counters(end, found)
        next(job.data.glob("*.counters")).unlink()
        server.ask()
        check_equal(server.scrape().sums(), end.sums(), "sums when a file is gone")
        check(os.access(job.data, os.W_OK), "the folder is there")
        server.stop()


def killed(mpi):
    """What a process had counted when it was killed stays."""
    with scratch() as folder:
        job = RunningJob(mpi, folder)
        with started(job.command) as process:
            job.wait_for_ranks()
            with serving(job.data) as server:
                before = server.scrape()
                job.kill(mpi.ranks - 1)
                check(finish(process).status != 0, "a rank was killed")
                wait_until(lambda: "counting" not in states(server.scrape()), "a process seems to count")
                after = server.scrape()
                check_not_less(before, after)
                check(states(after).get("killed", 0) >= 1, f"{states(after)}")
                check_equal_counters(after, counters(job.data))


def next_job(mpi):
    """Another job in the folder takes the place of the one before."""
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("counted"), switches=["--counters"])
        with serving(recording.folder) as server:
            first = server.scrape()
            check_equal_counters(first, counters(recording.folder))
            # Beside the logs of the first one, as `record` behind a launcher leaves them.
            _, other = record_well(folder / "other", mpi.job("counted"), switches=["--counters"])
            for path in other.folder.glob("*.counters"):
                shutil.copy(path, recording.folder)
            second = None

            def is_second():
                nonlocal second
                second = server.scrape()
                return second.job() != first.job()

            wait_until(is_second, "the job in the metrics stays the first")
            check_equal_counters(second, counters(other.folder))


def two_jobs(mpi):
    """Both jobs of a folder that count are told; one that ended stays until another one begins."""
    with scratch() as folder:
        with two_running(mpi, folder) as (data, older, newer), serving(data) as server:
            with serving(data, "--job", older) as of_one:
                check_equal(jobs_in(of_one.scrape()), {older: "counting"}, "the job that was asked for")
            first = server.scrape()
            check_equal(jobs_in(first), {older: "counting", newer: "counting"}, "jobs that count")
            (folder / "newer" / "stop").touch()
            wait_until(lambda: jobs_in(server.scrape()) == {older: "counting", newer: "ended"}, "the end is not told")
            (folder / "older" / "stop").touch()
            wait_until(lambda: jobs_in(server.scrape()) == {older: "ended", newer: "ended"}, "one is forgotten")
            last = server.scrape()
            check_not_less(first, last)
            for key in (older, newer):
                calls_of = last.of("uctrace_mpi_calls_total", "job_id", "function")
                table = {row["function"]: row["calls"] for row in counters(data, "--job", key)["functions"]}
                told = {function: count for (job, function), count in calls_of.items() if job == key}
                check_equal(told, table, f"calls of {key}")


def jobs_in(scrape):
    """{job: the state in which all its processes are}"""
    found = scrape.of("uctrace_processes", "job_id", "state")
    return {job: state for (job, state), count in found.items() if count == sum(
        number for (other, _), number in found.items() if other == job)}


# --- clients -------------------------------------------------------------------------------------


def talk(server, data):
    """All that comes back for these bytes."""
    with socket.create_connection((server.url.hostname, server.url.port), timeout=30) as connection:
        connection.sendall(data)
        return read_all(connection)


def read_all(connection):
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts).decode()


def status_of(answer):
    return int(answer.split(" ")[1]) if answer else None


def answers(server):
    """What is at which path, and in which format."""
    answer, text = server.ask()
    check_equal((answer.status, answer.getheader("Content-Type")), (200, CLASSIC), "without an Accept")
    classic, scrape = read_metrics(text, False), server.scrape()
    check_equal(classic.values, scrape.values, "both formats")
    check_equal((scrape.types["uctrace_build"], classic.types["uctrace_build_info"]), ("info", "gauge"), "types")
    head, body = server.ask(method="HEAD")
    check_equal((head.status, body, int(head.getheader("Content-Length"))), (200, "", len(text)), "HEAD")
    page, text = server.ask("/")
    check(page.status == 200 and "/metrics" in text and "html" in page.getheader("Content-Type"), text)
    check_equal(server.ask("/metrics?collect[]=all")[0].status, 200, "with a query")
    for path in ("/metrics/", "/favicon.ico", "/../etc/passwd", "//metrics"):
        check_equal(server.ask(path)[0].status, 404, path)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        answer, _ = server.ask(method=method)
        check_equal((answer.status, answer.getheader("Allow")), (405, "GET, HEAD"), method)


def hosts(server):
    port = server.url.port
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
        check_equal(server.ask(Host=host)[0].status, 200, host)
    for host in (f"rebound.example:{port}", "localhost", "127.0.0.1", f"localhost:{port + 1}", f"127.0.0.2:{port}"):
        answer, text = server.ask(Host=host)
        check(answer.status == 403 and "uctrace_" not in text, f"{host}: {answer.status} {text}")
    own = f"http://127.0.0.1:{port}/metrics"
    check_equal(status_of(talk(server, f"GET {own} HTTP/1.1\r\nHost: a\r\n\r\n".encode())), 200, "a whole address")


def garbage(server):
    request = f"GET /metrics HTTP/1.1\r\nHost: {server.url.netloc}\r\n"
    for data, status in ((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400), (b"hello\r\n\r\n", 400),
                         (b"GET /metrics HTTP/1.1\r\n\r\n", 400), (b"GET /metrics HTTP/2.0\r\n\r\n", 400),
                         (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400), (b"\0" * 5000, 400),
                         (b"GET /metrics HTTP/1.0\n\n", 200),
                         (request.encode() + b"a: " + b"b" * 100_000, 431), (b"G" * 9000, 431),
                         ((request + "\r\n").encode() + b"\0" * 70_000, 200)):
        check_equal(status_of(talk(server, data)), status, f"{data[:60]!r}")


def many_clients(server):
    """Those that say nothing, or little, hold up nobody, and are dropped in time."""
    at = (server.url.hostname, server.url.port)
    slow = socket.create_connection(at, timeout=30)
    slow.sendall(b"GET /metr")
    began = time.monotonic()
    check_equal(server.ask()[0].status, 200, "beside a slow one")
    check_equal((read_all(slow), time.monotonic() - began >= REQUEST_TIME_S - 1), ("", True), "the slow one is dropped")
    silent = [socket.create_connection(at, timeout=30) for _ in range(150)]
    check_equal(server.ask()[0].status, 200, "beside many")
    # Of those that are too many, the oldest give way.
    check_equal(read_all(silent[0]), "", "the oldest")
    # A client that goes away in the middle of an answer.
    silent[-1].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    silent[-1].sendall(f"GET /metrics HTTP/1.1\r\nHost: {server.url.netloc}\r\n\r\n".encode())
    for connection in [slow, *silent]:
        connection.close()
    check_equal(server.ask()[0].status, 200, "after many")


def limited(folder):
    """What is left out is summed."""
    with serving(folder) as all_of, serving(folder, "--max-series", 2) as few:
        whole, part = flows_of_scrape(all_of.scrape()), few.scrape()
        left_out = part.of("uctrace_left_out_series", "by")
        for name, flows in flows_of_scrape(part).items():
            told = {labels: flow for labels, flow in flows.items() if "other" not in labels}
            check_equal(len(told), min(2, len(whole[name])), f"series of {name}")
            check_equal(left_out[name,], len(whole[name]) - len(told), f"left out of {name}")
            check(all(whole[name][labels] == flow for labels, flow in told.items()), f"{name}: {told}")
            for i in (0, 1):
                check_equal(sum(flow[i] for flow in flows.values()), sum(flow[i] for flow in whole[name].values()),
                            f"all of {name}")


def refused(*arguments, saying):
    result = run([TOOL, "serve", *arguments])
    check_equal((result.status, result.stdout, len(result.stderr.splitlines())), (REFUSED, "", 1), f"{result}")
    check(saying in result.stderr, f"not said: {saying!r}: {result}")


def bad_input(folder, server):
    (folder / "empty").mkdir()
    counted = folder / "data"
    _, traced = record_well(folder / "traced", MPIS["mpich"].job("counted"))
    refused(counted, saying="it is not said what to serve")
    refused("--metrics", folder / "none", saying="cannot read the folder")
    refused("--metrics", folder / "empty", saying="it has no counter files")
    refused("--metrics", traced.folder, saying="its job was recorded without them")
    refused("--metrics", counted, "--port", server.url.port, saying="another program listens there; give another --port")
    refused("--metrics", counted, "--port", 70000, saying="greater than 65535")
    refused("--metrics", counted, "--address", "here", saying="it is no numeric address")
    refused("--metrics", counted, "--address", "192.0.2.1", saying="cannot listen on 192.0.2.1:29464")
    same = run([TOOL, "counters", traced.folder])
    check("its job was recorded without them" in same.stderr, f"counters says the same: {same}")


def requests():
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS["mpich"].job("counted"), switches=["--counters"])
        with serving(recording.folder) as server:
            answers(server)
            hosts(server)
            garbage(server)
            bad_input(folder, server)
            many_clients(server)
            (recording.folder / "a.counters").write_bytes(struct.pack("=QI", 0x31544E4352544355, 99) + bytes(8192))
            wait_until(lambda: server.scrape().of("uctrace_unread_files") == {(): 1}, "an unreadable file is not told")
            server.stop()
        (recording.folder / "a.counters").unlink()
        limited(recording.folder)
        with serving(recording.folder, "--address", "::1") as server:
            check_equal(server.url.hostname, "::1", server.line)
            check_equal(server.ask()[0].status, 200, "over IPv6")


# --- Prometheus ----------------------------------------------------------------------------------


def find_prometheus():
    found = [shutil.which(name, path=f"{PROMETHEUS}:{os.environ['PATH']}") for name in ("prometheus", "promtool")]
    if None in found:
        raise Skip("there is no Prometheus; get it: tests/fetch-prometheus")
    return found


class Prometheus:
    """One that runs and scrapes `server`."""

    def __init__(self, process):
        self.process = process
        self.port = None
        while self.port is None:
            line = process.stderr.readline()
            check(line, "Prometheus ended")
            match = re.search(r'msg="Listening on" address=127\.0\.0\.1:(\d+)', line)
            self.port = match and match[1]

    def ask(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError:  # it is not ready yet
            return None

    def query(self, text):
        """{(name, labels): value}, without the labels that Prometheus adds."""
        found = {}
        for row in (self.ask("query", query=text) or {}).get("result", []):
            labels = {key: value for key, value in row["metric"].items() if key not in ("job", "instance", "__name__")}
            found[row["metric"].get("__name__"), tuple(sorted(labels.items()))] = float(row["value"][1])
        return found


def prometheus_of(folder, server, command):
    (folder / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms"},
        "scrape_configs": [{"job_name": "uctrace", "static_configs": [{"targets": [server.url.netloc]}]}]}))
    return started([command, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/prometheus",
                    "--web.listen-address=127.0.0.1:0"])


def prometheus():
    command, promtool = find_prometheus()
    mpi = MPIS["mpich"]
    with scratch() as folder, serving(folder / "data", "--wait") as server:
        job = RunningJob(mpi, folder)
        with prometheus_of(folder, server, command) as process, started(job.command) as running_job:
            reader = Prometheus(process)
            rate = "sum(rate(uctrace_payload_bytes_total[10s]))"
            wait_until(lambda: any(reader.query(rate).values()), "Prometheus sees no traffic", timeout=100)
            job.stop()
            check_equal(finish(running_job).status, 0, "the job")
            wait_until(lambda: states(server.scrape()) == {"ended": mpi.ranks}, "it is not seen to have ended")
            last = server.scrape()
            check_equal_counters(last, counters(job.data))
            ours = {series: float(value) for series, value in last.values.items()}
            series = '{__name__=~"uctrace_.*"}'
            wait_until(lambda: reader.query(series) == ours, "Prometheus has other values than we")
            check_equal(reader.query("resets(uctrace_payload_bytes_total[5m]) > 0"), {}, "sums that went down")
            check_equal(reader.query("min_over_time(up[5m])"), {(None, ()): 1.0}, "scrapes that failed")
            check_types(reader.ask("metadata"), last.types)
        answer, text = server.ask()
        lint = subprocess.run([promtool, "check", "metrics"], input=text, text=True, capture_output=True, check=False)
        check_equal((lint.returncode, lint.stdout, lint.stderr), (0, "", ""), "promtool check metrics")
        server.stop()


def check_types(metadata, types):
    """Prometheus read OpenMetrics, which alone has the type info."""
    found = {name: rows[0]["type"] for name, rows in metadata.items() if name.startswith("uctrace_")}
    check_equal(found, types, "types that Prometheus knows")
    check_equal(metadata["uctrace_payload_bytes"][0]["unit"], "bytes", "a unit")


CASES = {"running": running, "killed": killed, "next_job": next_job, "two_jobs": two_jobs}


def main(what, *parts):
    if what in MPIS:
        for part in parts:
            CASES[part](MPIS[what])
    else:
        {"requests": requests, "prometheus": prometheus}[what]()


run_test(main)
