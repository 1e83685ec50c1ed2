"""`assistant` and `python -m assistant`: the version is answered before anything is loaded."""

import sys

from assistant import __version__


def main() -> None:
    """Run the words of the command line; ends the process with the exit code of the contract."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"assistant {__version__}\n")
        return
    from assistant.cli.run import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
