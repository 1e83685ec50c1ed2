"""A server for each test that wants one."""

from collections.abc import Iterator

import pytest

from tests.fakes.served import Served


@pytest.fixture
def served(tmp_path) -> Iterator[Served]:
    world = Served(tmp_path)
    yield world
    world.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Served]:
    """One server for many requests."""
    world = Served(tmp_path_factory.mktemp("running"))
    yield world
    world.close()
