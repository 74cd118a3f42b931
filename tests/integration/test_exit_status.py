"""`record` ends as its program did: its exit status, or 128 + the signal that killed it."""

from harness import check, check_equal, run_test, scratch
from recordings import record


def exit_status_is_kept():
    programs = {
        0: ["true"],
        3: ["sh", "-c", "exit 3"],
        128 + 15: ["sh", "-c", "kill -TERM $$"],
        128 + 9: ["sh", "-c", "kill -KILL $$"],
        128 + 11: ["sh", "-c", "kill -SEGV $$"],
    }
    with scratch() as folder:
        for status, program in programs.items():
            result, _ = record(folder / "data", program)
            check_equal(result.status, status, f"exit status of {program}")

        result, _ = record(folder / "data", [folder / "no-such-program"])
        check_equal(result.status, 127, "exit status of a program that does not exist")
        check("no-such-program" in result.stderr, f"the program is not named: {result}")
        plain_file = folder / "plain-file"
        plain_file.write_text("not a program")
        result, _ = record(folder / "data", [plain_file])
        check_equal(result.status, 126, "exit status of a file that is no program")
        check("plain-file" in result.stderr, f"the file is not named: {result}")


run_test(exit_status_is_kept)
