"""uctrace's facts about each release of UCX agree with those measured in its sources (ucx_facts.txt), and
with the sources of the machine's own UCX.

    test_ucx_facts.py recorded
    test_ucx_facts.py own          the sources that tests/build-suffixed-ucx left
"""

from harness import BUILD_ROOT, Skip, check_equal, run_test
from ucx_functions import known_releases
from ucx_sources import differences, differing_facts, recorded_facts, ucx_in


def releases_are_as_measured():
    for minor in known_releases():
        check_equal(list(differing_facts(minor, recorded_facts(minor))), [], f"UCX 1.{minor}")


def sources_are_as_stated():
    sources = BUILD_ROOT / "ucx-suffixed" / "source"
    if not sources.is_dir():
        raise Skip("there are no sources of UCX; tests/build-suffixed-ucx keeps them")
    check_equal(list(differences(ucx_in(sources))), [], f"UCX in {sources}")


CASES = {"recorded": releases_are_as_measured, "own": sources_are_as_stated}
run_test(lambda case: CASES[case]())
