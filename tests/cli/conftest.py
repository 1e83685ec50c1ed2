import pytest

from tests.cli.scene import Shell


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)
