"""Claims of a log cost no memory, only real content does: blocks that expand a thousandfold, and files
that are holes."""

import shutil
import struct
import subprocess

from harness import TOOL, check, check_equal, peak_kb_of, run_test, scratch
from logs import PAGE_BYTES
from stores import ask_well, copy_of, processes_of, record_four

# docs/log-format.md
BLOCK = struct.Struct("=IIHBBIII4IQ3QQ")
BLOCK_MAGIC, EVENTS, CHUNK_HEADER_BYTES = 0x4B434150, 1, 64
NEW_KIND, SAME_CODES, CODED_WORDS = 127, 128, 21
MOST_RAW = 4 << 20
LIVE_BYTES = 712
MASK = (1 << 64) - 1
HOSTILE_BYTES, SPARSE_BYTES = 4 << 20, 3 << 29
MOST_KB = 100_000


def checksum_of(block):
    total = 0x9E3779B97F4A7C15
    words = list(struct.unpack(f"={len(block) // 8}Q", block))
    words[BLOCK.size // 8 - 1] = 0
    for word in words:
        total = (((total << 27 | total >> 37) & MASK) ^ word) * 0xFF51AFD7ED558CCD & MASK
    return total


def block_of(sequence, kind):
    """As many records of `kind` as fit into a chunk, of a byte each."""
    records = MOST_RAW // (8 * CODED_WORDS)
    packed = bytes([NEW_KIND, 0]) + struct.pack("=I", kind) + bytes([0]) + bytes(8)
    packed += bytes([SAME_CODES]) * (records - 1)
    size = (BLOCK.size + len(packed) + 63) // 64 * 64
    head = [BLOCK_MAGIC, size, 0, EVENTS, 0, sequence, CHUNK_HEADER_BYTES,
            records * 8 * CODED_WORDS, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    block = (BLOCK.pack(*head) + packed).ljust(size, b"\0")
    head[-1] = checksum_of(block)
    return BLOCK.pack(*head) + block[BLOCK.size:]


def check_peak(folder, what):
    status, output, peak = peak_kb_of(TOOL, "info", folder)
    check(status in (0, 1), f"{what}: exit status {status}: {output}")
    check(peak < MOST_KB, f"{what}: info took {peak} kB")
    return output


def hostile_blocks(good, folder):
    """4 MB that unpack to 672 MB: of an unknown record type, and of completions."""
    for kind, told in ((31, "records are not valid and left out"), (2, "were found but not counted")):
        data = folder.with_name(f"blocks-{kind}")
        log = copy_of(good, data).logs[0]
        log.chmod(0o644)
        with open(log, "r+b") as file:
            file.truncate(PAGE_BYTES)
            file.seek(PAGE_BYTES)
            sequence = 0
            while file.tell() < HOSTILE_BYTES:
                sequence += 1
                file.write(block_of(sequence, kind | CODED_WORDS << 8))
        output = check_peak(data, f"blocks of records of kind {kind}")
        check(told in output, f"the blocks were not read: {output}")


def sparse_log(good, folder):
    """With data after the hole, so it is examined."""
    log = copy_of(good, folder).logs[0]
    log.chmod(0o644)
    with open(log, "r+b") as file:
        file.truncate(SPARSE_BYTES)
        file.seek(SPARSE_BYTES - 4096)
        file.write(b"\x55" * 4096)
    check(log.stat().st_blocks * 512 < SPARSE_BYTES // 100, "there are no holes on this file system")
    output = check_peak(folder, "a log of holes")
    check("passed over in search" in output, f"what lies behind the hole was not seen: {output}")
    check_equal(processes_of(folder), 4, "processes")


def sparse_chunks(good, folder):
    log = copy_of(good, folder).logs[0]
    live = log.with_name(log.name + ".live")
    log.chmod(0o644)
    with open(log, "r+b") as file:
        file.seek(LIVE_BYTES)
        file.write(struct.pack("=Q", 64 * 1024))
    with open(live, "wb") as file:
        file.truncate(SPARSE_BYTES)
    check_peak(folder, "a file of chunks of holes")


def cut_to_size(good, folder):
    """A copy may write holes out: the run is the same."""
    copy_of(good, folder)
    expected = ask_well(folder, "report").stdout
    for log in folder.glob("*.ulog"):
        sparse = log.with_suffix(".sparse")
        subprocess.run(["cp", "--sparse=always", log, sparse], check=True)
        log.unlink()
        shutil.move(sparse, log)
    check_equal(ask_well(folder, "report").stdout, expected, "report of sparse copies")


def claims_cost_nothing():
    with scratch() as folder:
        good = record_four(folder)
        for case in (hostile_blocks, sparse_log, sparse_chunks, cut_to_size):
            case(good, folder / case.__name__)


run_test(claims_cost_nothing)
