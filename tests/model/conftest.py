import os
import sys
from pathlib import Path

import pytest

from assistant.home.place import cache_folder
from assistant.llm.weights import prepare

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def caches():
    """Where large files are kept from one test run to the next."""
    return Path(os.environ.get("XDG_CACHE_HOME") or ROOT / ".cache")


@pytest.fixture(scope="session")
def cache(caches):
    """The folder with the weights, fetched if need be."""
    folder = cache_folder({"XDG_CACHE_HOME": str(caches)})
    prepare(folder, sys.stderr.write)
    return folder
