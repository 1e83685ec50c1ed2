import io
import os

import pytest

from assistant.demo.stage import Theatre
from assistant.demo.story import play
from assistant.wiring.build import Assembly, World


class Shown:
    """A demo that was played, what it showed, and its home opened again."""

    def __init__(self, root):
        out = io.StringIO()
        environ = {"PATH": os.defpath, "HOME": str(root)}
        world = World(environ, root)
        self.root = root
        self.played = play(root, world, Theatre(out, lambda: 0.0, lambda seconds: None))
        self.text = out.getvalue()
        self.assembly = Assembly(world, self.played.home)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    done = Shown(tmp_path_factory.mktemp("demo"))
    yield done
    done.assembly.close()
