"""For the tests of both packages: what they draw from secure generators is the same every time."""

from __future__ import annotations

import pytest

from fixed_keys import fixed_keys


def pytest_addoption(parser):
    parser.addoption(
        "--keys",
        default="fixed",
        help="of secure generators: another text for other draws, or 'system' for new ones each "
        "time; a test that fails with few of them hangs on luck",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    keys = item.config.getoption("keys")
    if keys == "system" or item.get_closest_marker("system_keys"):
        return (yield)
    with fixed_keys(f"{keys} {item.nodeid}"):
        return (yield)
