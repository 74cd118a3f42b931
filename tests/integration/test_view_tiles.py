"""`uctrace view --tiles`: a page and all operations in files beside it, which a real browser loads from disk."""

import json
import re

from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from page import data_of, in_browser, packed_rows
from recordings import record_well
from served_pages import serving
from stores import TOOL_FAILURE

LIMIT = 40  # operations of a tile: so small that even a short run has several tiles
OPERATIONS = ("mpi_calls", "ucp_operations", "transfers", "messages")


class Tiles:
    """The contents of a written folder."""

    def __init__(self, folder):
        self.folder = folder
        html = (folder / "index.html").read_text()
        self.page = data_of(html)
        check("script-src 'unsafe-inline' 'self';" in html, "the page may load scripts beside it")
        self.tiles = [self.read(number) for number in range(len(self.page["tiles"]["from_ns"]))]
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        expected = ["index.html", "tiles", *(f"tiles/{number}.js" for number in range(len(self.tiles)))]
        check_equal(names, sorted(expected), "files of the folder")

    def read(self, number):
        script = (self.folder / "tiles" / f"{number}.js").read_text()
        call = re.fullmatch(r"uctraceTile\((.*)\);\n", script, re.DOTALL)
        check(call is not None, f"no call: {script[:80]}")
        return json.loads(call.group(1))

    def span(self, number):
        time, first = self.page["time"], self.page["tiles"]["from_ns"]
        end = time["from_ns"] + time["slabs"] * time["slab_ns"]
        return first[number], first[number + 1] if number + 1 < len(first) else end


def write(recording, folder, *options):
    written = recording.ask("view", "--tiles", "-o", folder, *options)
    check_equal((written.status, written.stdout.strip()), (0, str(folder / "index.html")), f"tiles: {written}")
    return Tiles(folder)


def tiles_hold_all(recording, tiles):
    """Every message and operation, in the tiles that it overlaps, as the command line tells the messages."""
    page = tiles.page
    check(len(tiles.tiles) > 3, f"only {len(tiles.tiles)} tiles")
    check_equal((page["time"]["embedded"], page["time"]["is_part"]), (0, False), "the page has the sums")
    listed = {message["id"]: message for message in recording.messages}
    begun = 0
    for number, tile in enumerate(tiles.tiles):
        check_equal((tile["run"], tile["tile"]), (page["run"]["id"], number), "what the tile is of")
        check_equal(tile["packed"]["adler32"], page["tiles"]["adler32"][number], "its checksum")
        first, end = tiles.span(number)
        rows = {name: packed_rows(tile["packed"], name) for name in OPERATIONS}
        check_equal(sum(map(len, rows.values())), page["tiles"]["operations"][number], "operations of the tile")
        begun += sum(first <= row["start_ns"] < end for name in OPERATIONS for row in rows[name])
        said = json.loads(recording.ask("messages", "--format", "json", f"--from={first}ns", f"--to={end}ns").stdout)
        here = {row["id"]: row for row in rows["messages"] if first <= row["start_ns"] < end}
        check_equal(set(here), {message["id"] for message in said["messages"]}, f"messages that begin in tile {number}")
        for row in rows["messages"]:
            check_equal((row["bytes"], row["start_ns"]), (listed[row["id"]]["bytes"], listed[row["id"]]["t_start_ns"]),
                        f"message {row['id']}")
    check_equal(begun, page["time"]["events"], "operations and messages that begin in the tiles")


def sums_are_those_of_the_page(recording, tiles, folder):
    file = folder / "page.html"
    recording.ask("view", "-o", file)
    page = data_of(file.read_text())
    for table in ("cells", "cell_transfers", "slab_cells", "slab_transfers", "wait_sums"):
        check_equal(packed_rows(tiles.page["packed"], table), packed_rows(page["packed"], table), f"sums of {table}")
    check_equal(page["tiles"], None, "a page without tiles")
    check("'self'" not in file.read_text().partition("<title>")[0], "it may load nothing")


def entries(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}


TAKEN = ("something of this name is there already", "remove it, or name another place with -o PATH")


def refused(recording, path, why, to_do):
    answer = recording.ask("view", "--tiles", "-o", path)
    check_equal(answer.status, TOOL_FAILURE, f"{path} is refused: {answer}")
    check(why in answer.stderr and answer.stderr.count("\n") == 1, f"one line that says why: {answer.stderr}")
    check(to_do in answer.stderr, f"and what to do: {answer.stderr}")


def what_is_there_is_refused(recording, folder):
    """An existing folder, an older page or anything else, is refused and left untouched, however it is named."""
    place = folder / "there"
    place.mkdir()
    (place / "older").mkdir()
    (place / "older" / "index.html").write_text("mine")
    (place / "empty").mkdir()
    (place / "file").write_text("mine")
    (place / "link").symlink_to(place / "older")
    (place / "dangling").symlink_to(place / "nowhere")
    before = entries(place)
    for name in ("older", "older/", "empty", "file", "file/", "link", "link/", "dangling", "dangling/", "older/.", "older/.."):
        refused(recording, f"{place}/{name}", *TAKEN)
    refused(recording, folder / "missing" / "tiles", "No such file or directory", "name another one with -o DIR")
    check_equal(entries(place), before, "nothing is touched")
    check_equal([path.name for path in folder.rglob("*.uctrace-new-*")], [], "nothing is left beside it")
    store = recording.folder / "run.h5"
    store.unlink()
    refused(recording, f"{place}/file", *TAKEN)
    check(not store.exists(), "what is there is refused before the run is merged")


def options_have_sense(recording):
    for options, why in ((["--tiles"], "none is named"), (["--tiles", "-o", "-"], "none is named"),
                         (["--tiles", "--serve", "-o", "there"], "with --serve no file is written")):
        answer = recording.ask("view", *options)
        check(answer.status == TOOL_FAILURE and why in answer.stderr, f"{options} are refused: {answer}")


def served_ones_are_those_of_the_folder(recording, tiles):
    """Tiles are made on request, in any order. The page equals that of the folder, except for the checksums."""
    with serving(recording.folder, "--tiles", "--limit", LIMIT) as server:
        page = data_of(server.page())
        check_equal(page["tiles"].pop("adler32"), None, "checksums of tiles that are not made yet")
        expected = {**tiles.page, "tiles": {key: value for key, value in tiles.page["tiles"].items() if key != "adler32"}}
        check_equal(page, expected, "the page")
        for number in (*reversed(range(len(tiles.tiles))), 1):
            answer, script = server.ask(f"{server.url.path}tiles/{number}.js")
            check_equal((answer.status, answer.getheader("Content-Type")), (200, "text/javascript; charset=utf-8"), "its head")
            check_equal(script, (tiles.folder / "tiles" / f"{number}.js").read_text(), f"tile {number}")
        for path in (f"tiles/{len(tiles.tiles)}.js", "tiles/-1.js", "tiles/.js", "tiles/1.json", "tiles/../index.html", "1000-30000000"):
            check_equal(server.ask(server.url.path + path)[0].status, 404, path)
        check_equal(server.ask("/tiles/0.js")[0].status, 403, "a tile without the token")
        in_browser("--tiles", tiles.folder, "--served", server.line)
        server.stop()


def page_loads_its_tiles():
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS["ompi"].job("exchange"))
        tiles = write(recording, folder / "tiles <b>", "--limit", LIMIT)
        tiles_hold_all(recording, tiles)
        sums_are_those_of_the_page(recording, tiles, folder)
        what_is_there_is_refused(recording, folder)
        options_have_sense(recording)
        in_browser("--tiles", tiles.folder)
        served_ones_are_those_of_the_folder(recording, tiles)


run_test(page_loads_its_tiles)
