"""Copies of recordings in which an accounting identity is violated."""

import shutil
from pathlib import Path

from harness import check
from logs import Log
from recordings import Recording

IDENTITY_VIOLATED = 1  # exit status of `info`


def changed_copy(good, folder, change):
    """The logs with the first suitable one changed."""
    folder.mkdir()
    logs = [Log(Path(shutil.copy(log, folder))) for log in good.logs]
    changed = next((log for log in logs if change(log)), None)
    check(changed is not None, f"no log has anything for {change.__name__}")
    changed.save()
    return Recording(folder)


def names_with(recording, result):
    return {i["name"] for i in recording.info["identities"] if i["result"] == result}
