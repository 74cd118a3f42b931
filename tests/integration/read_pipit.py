"""Prints as JSON how Pipit's own reader sees an OTF2 archive. PYTHONPATH must contain Pipit.

usage: read_pipit.py FOLDER BINS SLABS
"""

import json
import sys

from pipit import Trace

folder, bins, slabs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
trace = Trace.from_otf2(folder)
counts, edges = trace.message_histogram(bins=bins)
over_time = {output: trace.comm_over_time(output=output, bins=slabs) for output in ("size", "count")}
print(json.dumps({
    "size": trace.comm_matrix(output="size").tolist(),
    "count": trace.comm_matrix(output="count").tolist(),
    "histogram": [counts.tolist(), edges.tolist()],
    "over_time": {output: [volume.tolist(), edges.tolist()] for output, (volume, edges) in over_time.items()},
}))
