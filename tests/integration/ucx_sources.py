"""uctrace's facts about UCX, compared with the sources of one version: its row of ucx-facts/releases.hpp, ids and
headers on the wire (event-log/format/ucp_wire.hpp), slots and functions of an interface's table, the public
functions. UCX is not built: its headers are compiled unchanged, within a second.

Shared by test_ucx_facts.py, which compares the machine's own UCX, and tests/ucx-sources."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness import SOURCE_ROOT, check, need, run_well
from ucx_functions import (LAYERS, declared_functions, functions_by_release, hooked_slots, in_ranges,
                           known_releases, minors_in)

WIRE = SOURCE_ROOT / "event-log" / "format" / "ucp_wire.hpp"
FACTS = Path(__file__).with_name("ucx_facts.txt")
PATCH = SOURCE_ROOT / "patches" / "ucx-hooks.patch"

# The configuration that a release build would have produced.
CONFIGURATION = """\
#define ENABLE_STATS 0
#define ENABLE_DEBUG_DATA 0
#define ENABLE_PARAMS_CHECK 0
#define UCS_MAX_LOG_LEVEL 3
#define UCX_MODULE_SUBDIR "ucx"
"""
# UCX's names of ids whose names in uctrace are not UCX's in lower case.
RENAMED = {"GET_REQ": "get_request", "GET_REP": "get_reply", "ATOMIC_REQ": "atomic_request",
           "ATOMIC_REP": "atomic_reply", "CMPL": "completion", "SINGLE": "am_single", "MIDDLE": "am_middle",
           "SINGLE_REPLY": "am_single_reply"}
NO_IDS = {"LAST"}  # of UCP_AM_ID_
TABLE, PATCHED, UID = "table of protocols", "has a patch", "place of the uid in a worker's address"

REQUEST_ID = ("ucp_reply_hdr_t", ["req_id"])
AM_FIRST, AM_MIDDLE = ["ucp_am_hdr_t", "ucp_am_first_ftr_t"], ["ucp_am_mid_hdr_t", "ucp_am_mid_ftr_t"]
# By id: UCX's structures in front of the payload, with those behind it; none of a message that has no
# payload. Then the structure that it begins with, and the members that are its first words.
MESSAGES = {
    "eager_only": (["ucp_eager_hdr_t"], "ucp_eager_hdr_t", ["super.tag"]),
    "eager_first": (["ucp_eager_first_hdr_t"], "ucp_eager_first_hdr_t", ["super.super.tag", "total_len", "msg_id"]),
    "eager_middle": (["ucp_eager_middle_hdr_t"], "ucp_eager_middle_hdr_t", ["msg_id", "offset"]),
    "eager_sync_only": (["ucp_eager_sync_hdr_t"], "ucp_eager_sync_hdr_t",
                        ["super.super.tag", "req.ep_id", "req.req_id"]),
    "eager_sync_first": (["ucp_eager_sync_first_hdr_t"], "ucp_eager_sync_first_hdr_t",
                         ["super.super.super.tag", "super.total_len", "super.msg_id", "req.ep_id", "req.req_id"]),
    "rndv_data": (["ucp_request_data_hdr_t"], "ucp_request_data_hdr_t", ["req_id", "offset"]),
    "stream_data": (["ucp_stream_am_hdr_t"], "ucp_stream_am_hdr_t", ["ep_id"]),
    "am_single": (["ucp_am_hdr_t"], "ucp_am_hdr_t", ["am_id"]),
    "am_single_reply": (["ucp_am_hdr_t", "ucp_am_reply_ftr_t"], "ucp_am_hdr_t", ["am_id"]),
    "am_first": (AM_FIRST, "ucp_am_hdr_t", ["am_id"]),
    "am_middle": (AM_MIDDLE, "ucp_am_mid_hdr_t", ["offset"]),
    "am_first_psn": (AM_FIRST, "ucp_am_hdr_t", ["am_id"]),
    "am_middle_psn": (AM_MIDDLE, "ucp_am_mid_hdr_t", ["offset"]),
    "put": (["ucp_put_hdr_t"], "ucp_put_hdr_t", ["address", "ep_id"]),
    "get_request": ([], "ucp_get_req_hdr_t", ["address", "length", "req.ep_id", "req.req_id"]),
    "get_reply": (["ucp_request_data_hdr_t"], "ucp_request_data_hdr_t", ["req_id", "offset"]),
    "atomic_request": (["ucp_atomic_req_hdr_t"], "ucp_atomic_req_hdr_t", ["address", "req.ep_id", "req.req_id"]),
    "atomic_reply": ([], "ucp_rma_rep_hdr_t", ["req_id"]),
    "rndv_rts": ([], "ucp_rndv_rts_hdr_t", ["hdr", "sreq.ep_id", "sreq.req_id", "address", "size"]),
    "rndv_rtr": ([], "ucp_rndv_rtr_hdr_t", ["sreq_id", "rreq_id", "address", "size", "offset"]),
    "rndv_ats": ([], *REQUEST_ID),
    "rndv_atp": ([], *REQUEST_ID),
    "eager_sync_ack": ([], *REQUEST_ID),
    "completion": ([], "ucp_cmpl_hdr_t", ["ep_id"]),
    "offload_sync_ack": ([], "ucp_offload_ssend_hdr_t", ["ep_id", "sender_tag"]),
    "wireup": ([], "ucp_wireup_msg_t", ["type"]),
}
# Other structures in UCX 1.11.
MESSAGES_OF_1_11 = MESSAGES | {
    "rndv_data": (["ucp_rndv_data_hdr_t"], "ucp_rndv_data_hdr_t", ["rreq_id", "offset"]),
    "get_reply": (["ucp_rma_rep_hdr_t"], "ucp_rma_rep_hdr_t", ["req_id"]),
    "am_single_reply": (["ucp_am_reply_hdr_t"], "ucp_am_reply_hdr_t", ["super.am_id"]),
    "am_first": (["ucp_am_first_hdr_t"], "ucp_am_first_hdr_t", ["super.super.am_id"]),
    "am_middle": (["ucp_am_mid_hdr_t"], "ucp_am_mid_hdr_t", ["msg_id"]),
}
INTERNAL_HEADERS = ("ucp/core/ucp_request.h", "ucp/core/ucp_am.h", "ucp/proto/proto.h", "ucp/proto/proto_am.h",
                    "ucp/tag/eager.h", "ucp/tag/offload.h", "ucp/rndv/rndv.h", "ucp/rma/rma.h",
                    "ucp/stream/stream.h", "ucp/wireup/wireup.h", "ucs/memory/memtype_cache.h")


@dataclass(frozen=True)
class Ucx:
    """A source tree."""

    root: Path
    version: str

    @property
    def minor(self):
        return int(self.version.split(".")[1])

    def text(self, path):
        return (self.root / path).read_text()


def ucx_in(root):
    text = (Path(root) / "configure.ac").read_text()
    parts = [re.search(rf"define\(\[ucx_ver_{part}\], *(\d+)\)", text) for part in ("major", "minor", "patch")]
    check(all(parts), f"{root}/configure.ac does not say which UCX it is")
    return Ucx(Path(root), ".".join(part[1] for part in parts))


# --- facts, in words: what, and what it is -------------------------------------------------------


def answers(compiler, lines, options):
    """The output of a program of these lines, as pairs of name and value. Inline functions in UCX's headers may call
    undefined ones; they are never called."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / f"facts.{'cpp' if compiler == 'g++' else 'c'}"
        (folder / "config.h").write_text(CONFIGURATION)
        source.write_text("\n".join(lines) + "\n")
        run_well([need(compiler), "-w", "-O1", "-ffunction-sections", "-Wl,--gc-sections", "-I", folder, *options,
                  "-I", own_headers(), source, "-o", folder / "facts"])
        told = run_well([folder / "facts"]).stdout
    return [line.split(" = ") for line in told.splitlines()]


@cache
def own_headers():
    """The folder of the headers of the UCX that uctrace is compiled with: generated headers are in no source
    archive."""
    return run_well([need("pkg-config"), "--variable=includedir", "ucx"]).stdout.strip()


def own_ids():
    """uctrace's names of the ids on the wire."""
    body = re.search(r"enum class AmId[^{]*\{(.*?)\};", WIRE.read_text(), re.DOTALL)[1]
    return re.findall(r"^  (\w+) = \d+,", body, re.MULTILINE)


def places_of_slots():
    return [f'printf("place of slot {slot} = %zu\\n", offsetof(uct_iface_ops_t, {slot}));' for slot in hooked_slots()]


@cache
def stated_facts():
    """The facts in uctrace's sources, {minor: {name: value}}; facts about all releases are repeated for each."""
    lines = ['#include "event-log/format/ucp_wire.hpp"', '#include "ucx-facts/releases.hpp"', "#include <stdio.h>",
             "#include <uct/api/uct.h>", "using namespace uctrace;",
             "int main() { for (const ucx::Release& r : ucx::kReleases) {",
             'printf("release = %u\\n", r.minor);',
             'auto request = [](const char* build, ucx::RequestPlaces p) { printf("request %s = %u bytes,'
             ' completion at %u, pending at %u\\n", build, p.size, p.completion, p.request); };',
             'request("without assertions", r.requests[0]);',
             'request("with assertions", r.requests[r.requests[1].size != 0]);',
             'printf("memory types = %u\\n", r.memory_types);',
             'printf("memory info begins with type and device = %d\\n", r.tells_memory);',
             'printf("protocols v2 by default = %d\\n", r.protocols_v2);',
             f'printf("{PATCHED} = %d\\n", r.has_patch);',
             'printf("fragments begin with their place = %d\\n", r.names_places);',
             'printf("ucp_atomic_post calls ucp_atomic_op_nbx = %d\\n", r.posts_by_nbx);',
             f'printf("{UID} = %u\\n", r.worker_uid);',
             'printf("wireup message that asks for life = %u\\n", wire::kWireupEndpointCheck);',
             "for (const ucx::ProtocolPlaces& p : r.protocols) if (p.progress != 0)"
             f' printf("{TABLE}, %d = added at %u or %u, query at %u, progress at %u\\n",'
             " int(&p - r.protocols), p.add[0], p.add[1], p.query, p.progress);"]
    for name in own_ids():
        lines += [f"{{ constexpr auto id = wire::AmId::{name};"
                  " const auto s = wire::shape_of(static_cast<unsigned char>(id), r.names_places);",
                  f'printf("id {name} = %u\\n", unsigned(id));',
                  f'printf("message {name} = %u bytes in front of a payload, %d words\\n", s.header_bytes,'
                  " s.digest ? s.words - 1 : s.words); }"]
    stated = {}
    for what, value in answers("g++", [*lines, *places_of_slots(), "} }"], ["-std=c++20", "-I", SOURCE_ROOT]):
        if what == "release":
            of_release = stated[int(value)] = {}
        else:
            of_release[what] = value
    return stated


def ids_of(ucx):
    """{uctrace's name: UCX's}."""
    types = ucx.text("src/ucp/core/ucp_types.h")
    enumeration = re.search(r"typedef enum (?:\w+ )?\{([^}]*UCP_AM_ID_WIREUP.*?)\}", types, re.DOTALL)[1]
    ids = {}
    for name, value in re.findall(r"^\s*UCP_AM_ID_(\w+)\s*=\s*(\w+)", enumeration, re.MULTILINE):
        # FIRST marks the first of all ids since 1.12; before, it was a message.
        if name not in NO_IDS and (name != "FIRST" or value != "1"):
            ids["am_first" if name == "FIRST" else RENAMED.get(name, name.lower())] = f"UCP_AM_ID_{name}"
    return ids


def messages_of(ucx):
    return MESSAGES_OF_1_11 if ucx.minor == 11 else MESSAGES


def lines_of_message(name, message):
    """The number of consecutive words from the beginning: uctrace copies that many."""
    sizes, structure, members = message
    size = " + ".join(f"sizeof({size})" for size in sizes) or "0ul"
    in_order = " && ".join(f"offsetof({structure}, {member}) == {8 * place}" for place, member in enumerate(members))
    return (f'printf("message {name} = %zu bytes in front of a payload, %d words\\n", {size},'
            f" {in_order} ? {len(members)} : -1);")


def has_protocol_table(ucx):
    return ucx.minor >= 13


def lines_of_headers(ucx):
    lines = ['printf("memory types = %d\\n", UCS_MEMORY_TYPE_LAST);',
             'printf("wireup message that asks for life = %d\\n", UCP_WIREUP_MSG_EP_CHECK);',
             'printf("fragments begin with their place = %d\\n", offsetof(ucp_am_mid_hdr_t, offset) == 0);',
             *places_of_slots()]
    ids = ids_of(ucx)
    lines += [f'printf("id {name} = %d\\n", {of_ucx});' for name, of_ucx in ids.items()]
    lines += [lines_of_message(name, messages_of(ucx)[name]) for name in ids if name in messages_of(ucx)]
    adding = [name for name in ("probe", "init") if re.search(rf"ucp_proto_{name}_func_t\s+{name};",
                                                              ucx.text("src/ucp/proto/proto.h"))]
    if has_protocol_table(ucx):
        lines.append('printf("table of protocols = added at %zu or %zu, query at %zu, progress at %zu\\n",'
                     f" offsetof(ucp_proto_t, {adding[0]}), offsetof(ucp_proto_t, {adding[-1]}),"
                     " offsetof(ucp_proto_t, query), offsetof(ucp_proto_t, progress));")
    memory = ucx.text("src/ucs/memory/memtype_cache.h")
    # UCX 1.11 passes the cache to the callback as first argument.
    tells = "sys_dev" in memory and re.search(r"\bucs_memtype_cache_lookup\(const void \*", memory)
    lines.append('printf("memory info begins with type and device = %d\\n", ' + (
        "offsetof(ucs_memory_info_t, type) == 0 && offsetof(ucs_memory_info_t, sys_dev) == 4);" if tells else "0);"))
    return lines


def measured_facts(ucx):
    """The facts in the sources of UCX."""
    headers = [f"#include <{header}>" for header in INTERNAL_HEADERS if (ucx.root / "src" / header).exists()]
    headers = ["#include <stddef.h>", "#include <stdio.h>", *headers, "int main(void) {"]
    options = ["-DHAVE_CONFIG_H", "-I", ucx.root / "src"]
    request = ('printf("request %s = %zu bytes, completion at %zu, pending at %zu\\n", "BUILD", sizeof(ucp_request_t),'
               " offsetof(ucp_request_t, send.state.uct_comp), offsetof(ucp_request_t, send.uct));")
    facts = {}
    for build, switches in (("without assertions", []), ("with assertions", ["-DENABLE_ASSERT=1"])):
        lines = [*headers, request.replace("BUILD", build), *lines_of_headers(ucx), "}"]
        facts |= dict(answers("gcc", lines, [*options, *switches]))
    default = re.search(r'\{"PROTO_ENABLE", "(.)"', ucx.text("src/ucp/core/ucp_context.c"))
    facts[UID] = str(place_of_uid(ucx))
    post = re.search(r"^ucs_status_t ucp_atomic_post\(.*?^\}", ucx.text("src/ucp/rma/amo_send.c"), re.DOTALL | re.MULTILINE)
    facts["ucp_atomic_post calls ucp_atomic_op_nbx"] = str(int(post is not None and "ucp_atomic_op_nbx(" in post[0]))
    facts["protocols v2 by default"] = str(int(default is not None and default[1] == "y"))
    return facts


def place_of_uid(ucx):
    """0: UCP has a function for it. Otherwise after the header, as UCX packs it."""
    if "ucp_worker_address_query" in ucx.text("src/ucp/api/ucp.h"):
        return 0
    packing = (r"ptr += buffer;.*?ptr += UCS_PTR_TYPE_OFFSET\(ptr, uint8_t\);\s*"
               r"if \(pack_flags & UCP_ADDRESS_PACK_FLAG_WORKER_UUID\) \{\s*\*\(uint64_t\*\)ptr = worker->uuid;")
    return 1 if re.search(packing, ucx.text("src/ucp/wireup/address.c"), re.DOTALL) else -1


def patch_fits(ucx):
    """As `uctrace build-ucx` applies it: the whole patch, or nothing."""
    tried = subprocess.run([need("patch"), "-p1", "--dry-run", "--force", "-i", PATCH], cwd=ucx.root,
                           stdout=subprocess.DEVNULL)
    return tried.returncode == 0


# --- comparing -----------------------------------------------------------------------------------


def prototypes(include):
    """{slot: its type}, of the header with the table; without the names of arguments."""
    found = {}
    for header in (Path(include) / "uct" / "api").glob("*.h"):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(), flags=re.DOTALL)
        for result, name, arguments in re.findall(r"typedef\s+([\w\s*]+)\(\*(uct_\w+)_func_t\)\s*\(([^)]*)\)", text):
            types = [re.sub(r"(?<=[\s*])\w+(\[\])?$", "", word.strip()) for word in arguments.split(",")]
            found[name.removeprefix("uct_")] = re.sub(r"\s", "", result + "|".join(types))
    return found


def differing_facts(minor, measured):
    """Measured facts that differ from those stated for this release, as sentences."""
    stated, measured = stated_facts()[minor], dict(measured)
    tables = {value for what, value in stated.items() if what.startswith(TABLE)}
    found = measured.pop(TABLE, None)
    if (found is not None or tables) and found not in tables:
        yield f"{TABLE}: {found}, stated {' or '.join(sorted(tables)) or 'none'}"
    for what, value in sorted(measured.items()):
        if stated.get(what) != value:
            yield f"{what}: {value}, stated {stated.get(what, 'nothing')}"
    for what in stated:
        if what not in measured and what.startswith(("request", "memory", "place of", "wireup")):
            yield f"{what}: not measured"


def differences(ucx):
    """Differences between these sources and uctrace's facts, as sentences."""
    check(ucx.minor in known_releases(), f"UCX {ucx.version} has no row in ucx-facts/releases.hpp")
    measured = measured_facts(ucx)
    yield from differing_facts(ucx.minor, measured)
    recorded = recorded_facts(ucx.minor)
    # For a release with several tables one is recorded.
    for what in sorted((set(measured) | set(recorded)) - {TABLE}):
        if measured.get(what) != recorded.get(what):
            yield f"{what}: {measured.get(what)}, {FACTS.name} has {recorded.get(what)}"
    if stated_facts()[ucx.minor][PATCHED] == "1" and not patch_fits(ucx):
        yield f"{PATCH.name} does not fit"
    own, others = prototypes(own_headers()), prototypes(ucx.root / "src")
    for slot in hooked_slots():
        if own[slot] != others.get(slot):
            yield f"function of slot {slot}: {others.get(slot)}, compiled with {own[slot]}"
    listed = {name for name, minors in functions_by_release().items() if ucx.minor in minors}
    declared = functions_of(ucx)
    yield from (f"function {name}: declared, and not listed for this release" for name in sorted(declared - listed))
    yield from (f"function {name}: listed for this release, and not declared" for name in sorted(listed - declared))


def functions_of(ucx):
    return set().union(*(declared_functions(layer, ucx.root / "src") for layer in LAYERS))


# --- what was measured, for tests without sources ------------------------------------------------

HEAD = """\
# What the sources of each release of UCX 1 say, as tests/ucx-sources measured it: WHAT = VALUE | RELEASES.
# Made by tests/ucx-sources --write; test_ucx_facts.py holds what uctrace states against it.
"""


def write_facts(facts):
    """`facts`: {minor: {what: value}}."""
    releases, lines = sorted(facts), []
    for what in sorted({what for of_release in facts.values() for what in of_release}):
        values = {minor: facts[minor][what] for minor in releases if what in facts[minor]}
        for value in dict.fromkeys(values.values()):
            minors = [minor for minor in releases if values.get(minor) == value]
            lines.append(f"{what} = {value} | {in_ranges(minors, releases)}")
    FACTS.write_text(HEAD + "\n".join(lines) + "\n")


def recorded_facts(minor):
    found = {}
    for line in FACTS.read_text().splitlines():
        if line and not line.startswith("#"):
            fact, _, releases = line.partition(" | ")
            what, _, value = fact.partition(" = ")
            if minor in minors_in(releases):
                check(what not in found, f"{FACTS.name} has two of {what} for UCX 1.{minor}")
                found[what] = value
    check(len(found) > 50, f"{FACTS.name} does not have what was measured of UCX 1.{minor}")
    return found
