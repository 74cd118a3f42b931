"""A running `uctrace view --serve` for a test."""

import contextlib
import http.client
import re
import urllib.parse

from harness import TOOL, check, check_equal, started


class Server:
    def __init__(self, process):
        self.process = process
        self.line = process.stdout.readline().strip()
        self.url = urllib.parse.urlsplit(self.line)
        check(re.fullmatch(r"/[0-9a-f]{32}/", self.url.path), f"it prints its address: {self.line!r}")
        check_equal(self.url.hostname, "127.0.0.1", "where it listens")

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer, answer.read().decode()

    def page(self, span=""):
        answer, text = self.ask(self.url.path + span)
        check_equal((answer.status, answer.getheader("Content-Type")), (200, "text/html; charset=utf-8"), text[:200])
        return text

    def stop(self):
        self.process.terminate()
        check_equal(self.process.wait(timeout=30), 0, "status after SIGTERM")
        check_equal((self.process.stdout.read(), self.process.stderr.read()), ("", ""), "it prints no more")


@contextlib.contextmanager
def serving(folder, *options):
    with started([TOOL, "view", folder, "--serve", *options]) as process:
        yield Server(process)
