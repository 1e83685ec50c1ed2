"""The log file: starts, stops and faults with their trace; one line a run.  Redacted and rotated."""

import logging
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path

FILE_BYTES, FILES = 1_000_000, 3


class Redacted(logging.Formatter):
    """Never writes the values it was told to keep."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self.secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """The line, with its trace, without secrets."""
        line = super().format(record)
        for secret in self.secrets:
            line = line.replace(secret, "[redacted]")
        return line


def logger_of(path: Path, secrets: tuple[str, ...]) -> logging.Logger:
    """The log of one home; the file is opened when the first line is written."""
    logger = logging.Logger(f"assistant:{path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(path, maxBytes=FILE_BYTES, backupCount=FILES, encoding="utf-8", delay=True)
    handler.setFormatter(Redacted(secrets))
    logger.addHandler(handler)
    return logger


def reporting(logger: logging.Logger, ids: Callable[[str], str]) -> Callable[[str], str]:
    """How a seam reports the exception it caught: with its trace, under a name that is told to whoever waits."""

    def report(about: str) -> str:
        name = ids("fault")
        logger.exception("%s in %s", name, about)
        return name

    return report
