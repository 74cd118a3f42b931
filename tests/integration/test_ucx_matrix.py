"""A part of the matrix of UCX versions: the machine's own UCX, stock and rebuilt by `uctrace build-ucx`,
with both versions of its protocols. `tests/ucx-matrix` runs other versions."""

from harness import check, rebuilt_ucx, run_test
from ucx_matrix import run_cell


def cell_is_good(mode, protocols, program):
    prefix = rebuilt_ucx() if mode == "rebuilt" else ""
    rows = list(run_cell(mode, protocols, prefix, [program]))
    for row in rows:
        print(f"{row.test}: {row.result}, {row.exact} exact, {row.inferred} inferred {row.why}")
    bad = [f"{row.test}: {row.why}" for row in rows if row.result != "ok"]
    check(not bad, f"{mode} {protocols}: {bad}")


run_test(cell_is_good)
