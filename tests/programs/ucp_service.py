"""A service that uses UCX by a plug-in, as bindings do, until somebody kills it. Tells its process id, and
then, whenever it has sent some, how many messages it has sent.

    ucp_service.py PLUGIN idle     sends once and waits
    ucp_service.py PLUGIN busy     goes on sending"""

import ctypes
import os
import signal
import sys

path, how = sys.argv[1:]
plugin = ctypes.CDLL(path)  # into a scope of its own
print(os.getpid(), flush=True)
plugin.open_service()
sent = 0
while True:
    sent += plugin.serve()
    print(sent, flush=True)
    if how == "idle":
        signal.pause()
