"""Every eager and rendezvous protocol over every transport of this machine is recorded whole."""

from checks import check_complete, check_links, check_messages_are, read_truth
from harness import check, run_test, scratch, uses_protocols_v2
from mpi_jobs import MPIS
from recordings import record_well

# What the environment requests, and a protocol that must then have carried data.
SETTINGS = {
    "shared-memory": ({"UCX_TLS": "posix,self"}, "rndv/am/bcopy"),
    "tcp": ({"UCX_TLS": "tcp,self"}, "rndv/put/zcopy"),
    "get": ({"UCX_TLS": "posix,cma,self", "UCX_RNDV_SCHEME": "get_zcopy"}, "rndv/get/zcopy"),
    "put": ({"UCX_TLS": "posix,cma,self", "UCX_RNDV_SCHEME": "put_zcopy"}, "rndv/put/zcopy"),
    "eager": ({"UCX_TLS": "sysv,self", "UCX_RNDV_THRESH": "inf"}, "eager/multi/bcopy"),
    "rendezvous": ({"UCX_TLS": "all", "UCX_RNDV_THRESH": "0"}, "rndv/get/zcopy"),
    "protocols-v2": ({"UCX_TLS": "all", "UCX_PROTO_ENABLE": "y"}, "egr/multi/bcopy"),
}
NAMES_OF_V2 = {"eager/multi/bcopy": "egr/multi/bcopy"}  # UCX names these itself


def body(setting):
    environment, protocol = SETTINGS[setting]
    if uses_protocols_v2(environment):
        protocol = NAMES_OF_V2.get(protocol, protocol)
    mpi = MPIS["ompi"]
    with scratch() as folder:
        job = mpi.job("exchange", folder / "truth")
        _, recording = record_well(folder / "data", job, env=environment)
        check_messages_are(recording, read_truth(folder / "truth", mpi))
        check_complete(recording.info, processes=mpi.ranks)
        check_links(recording.info, environment)
        seen = {message["protocol"] for message in recording.messages}
        check(protocol in seen, f"no message went by {protocol}: {sorted(seen, key=str)}")


run_test(body)
