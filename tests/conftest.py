"""What every test gets: the repository on the path, a home of its own, and no way out of this machine."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
for name in [n for n in os.environ if n.startswith(("OPENAI_", "HERMES_", "ASSISTANT_"))]:
    del os.environ[name]
