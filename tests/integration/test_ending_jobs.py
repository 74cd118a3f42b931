"""`info` in a loop while jobs end: afterwards each job is shown completely, whatever was read
before."""

import threading

from checks import check_complete
from harness import PROGRAMS, check, check_equal, finish, run_test, scratch, started
from recordings import Recording, record_command

JOBS = 20
AT_A_TIME = 4
MESSAGES = 54  # of each of the two processes


class Asker(threading.Thread):
    """Asks `info` about a folder until it is told to stop."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.stop, self.answers = folder, threading.Event(), []

    def run(self):
        while not self.stop.is_set():
            answer = Recording(self.folder).ask("info", "--list", "processes", "--format", "csv")
            self.answers.append(answer)


def read_beside(folders):
    askers = [Asker(folder) for folder in folders]
    job = [PROGRAMS / "plain_ucp"]
    jobs = []
    for folder, asker in zip(folders, askers):
        jobs.append(started(record_command(folder, job)))
        asker.process = jobs[-1].__enter__()
        asker.start()
    try:
        for asker in askers:
            check_equal(finish(asker.process).status, 0, "exit status of the job")
    finally:
        for asker, running in zip(askers, jobs):
            asker.stop.set()
            asker.join()
            running.__exit__(None, None, None)
    return [answer for asker in askers for answer in asker.answers]


def check_answer(answer):
    """While a job runs it shows a part, nothing, or no run yet; but never a killed process."""
    check(answer.status in (0, 125), f"exit status of info: {answer}")
    check("killed" not in answer.stdout, f"a process of the job was killed, it says: {answer}")


def ending_jobs():
    with scratch() as folder:
        asked = 0
        for first in range(0, JOBS, AT_A_TIME):
            folders = [folder / str(first + i) for i in range(AT_A_TIME)]
            answers = read_beside(folders)
            asked += len(answers)
            for answer in answers:
                check_answer(answer)
            for data in folders:
                ended = Recording(data)
                check_complete(ended.info, layers=("uct", "ucp"), processes=2)
                check_equal([p["exit"] for p in ended.info["processes"]], ["exited"] * 2, "exits")
                check_equal(ended.info["messages"]["matched"], 2 * MESSAGES, "messages")
                check_equal(ended.info["notes"], [], "notes")
        check(asked >= 2 * JOBS, f"info was asked {asked} times only beside {JOBS} jobs")


run_test(ending_jobs)
