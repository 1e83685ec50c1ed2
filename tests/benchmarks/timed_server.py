"""The scripted server with a record of when each request had come and when its answer left.

python -m tests.benchmarks.timed_server FOLDER     reads FOLDER/script.json, prints the port, serves until killed
"""

import json
import sys
from pathlib import Path
from time import monotonic
from typing import Any

from tests.fakes.openai_server import OpenAIServer, Step


class Timed(OpenAIServer):
    """All that the record costs falls between `came` and `left`, so it is nobody's own time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(script=json.loads((folder / "script.json").read_text()))
        self.folder = folder
        self.count = 0

    def next_step(self, body: bytes, headers: dict[str, str]) -> Step:
        """The answer to this request."""
        came = monotonic()
        step: Any = super().next_step(body, headers)
        with self.lock, (self.folder / "times").open("a") as record:
            (self.folder / f"body-{self.count}").write_bytes(body)
            self.count += 1
            record.write(json.dumps([came, monotonic()]) + "\n")
        return step


if __name__ == "__main__":
    with Timed(Path(sys.argv[1])) as server:
        print(server.port, flush=True)
        server.closing.wait()
