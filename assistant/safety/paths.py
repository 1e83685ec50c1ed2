"""May this path be read or written?"""

import fnmatch
import os
import re
from dataclasses import dataclass
from pathlib import Path

from assistant.safety.tables import words
from assistant.safety.verdicts import Allow, Ask, Deny, Verdict

HOME_WRITE = (
    "{path} is in the assistant's own home, where only guarded writers write: "
    "use skill_manage for skills and memory for facts; the person changes settings with `assistant config`"
)
OWN_SECRETS = ("*.env", ".env.*", "server.json")
SECRET_FOLDERS = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".docker",
    ".config/gh",
    ".config/gcloud",
    ".password-store",
)
SECRET_NAMES = (
    ".env",
    ".env.*",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    "id_rsa*",
    "id_ed25519*",
    "id_ecdsa*",
    "*.pem",
    "*.p12",
    "*.kdbx",
    "credentials.json",
)
NOT_SECRET = (".env.example", ".env.sample", ".env.template", "*.pub")
SECRET_FILES = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/proc/self/environ")
STREAMS = re.compile(r"/dev/(null|zero|stdin|stdout|stderr|tty|fd/\d+|full|u?random)|/proc/self/fd/\d+")
DISKS = re.compile(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|md|dm-|mapper/|loop|mem|kmem|port)")
TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp")
RUN_LATER = (".git", ".githooks", ".envrc", ".vscode", ".idea")
"""In a working folder: what other programs obey without asking."""
SYSTEM = words(
    "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /usr/bin "
    "/usr/lib /usr/local /usr/share /var /var/lib /Applications /Library /System /Users /Volumes"
)
"""Folders whose loss nobody can undo."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that verdicts turn on."""

    home: Path
    """The assistant's."""
    workdir: Path
    person: Path
    """The person's own folder, `~`."""


def real(path: Path) -> Path:
    """Where a path leads when links and `..` are followed, whether it exists or not, and whether it could."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return Path(os.path.normpath(path))


def judge_path(path: Path, write: bool, places: Places) -> Verdict:
    """May this path be written, or read?"""
    there = real(path)
    return judge_writing(path, there, places) if write else judge_reading(path, there, places)


def judge_reading(path: Path, there: Path, places: Places) -> Verdict:
    """Everything may be read but secrets: ours never, others when the person says so."""
    if is_own_secret(there, places.home):
        return Deny(f"{path} holds the assistant's own secrets and is never read", "home")
    if is_secret(there, places.home, places.person):
        return Ask(f"{path} may hold secrets", "secret")
    return Allow()


def judge_writing(path: Path, there: Path, places: Places) -> Verdict:
    """The home never, the working folder and temporary files freely, all else when the person says so."""
    if inside(there, real(places.home)):
        return Deny(HOME_WRITE.format(path=path), "home")
    if STREAMS.fullmatch(str(path)) or STREAMS.fullmatch(str(there)):
        return Allow()
    if DISKS.match(str(there)):
        return Deny(f"{path} is a disk; writing to it destroys what is on it", "fatal")
    if is_secret(there, places.home, places.person):
        return Ask(f"{path} may hold secrets", "secret")
    workdir = real(places.workdir)
    if inside(there, workdir):
        return judge_below(path, there.relative_to(workdir).parts, workdir in (real(places.person), Path("/")))
    if any(inside(there, Path(folder)) for folder in TEMPORARY):
        return Allow()
    return Ask(f"{path} is outside the working folder {places.workdir}", "outside")


def judge_below(path: Path, parts: tuple[str, ...], wide: bool) -> Verdict:
    """Writing below the working folder; a wide one also holds the person's settings."""
    if any(part in RUN_LATER for part in parts):
        return Ask(f"{path} is obeyed by other programs", "obeyed")
    if wide and any(part.startswith(".") for part in parts[:1]):
        return Ask(f"{path} is a settings file of the person", "outside")
    return Allow()


def inside(path: Path, folder: Path) -> bool:
    """Whether a path is a folder or below it."""
    return path.is_relative_to(folder)


def is_own_secret(there: Path, home: Path) -> bool:
    """Whether a file of the home holds keys or tokens."""
    top = real(home)
    return inside(there, top) and any(fnmatch.fnmatch(there.name, name) for name in OWN_SECRETS)


def is_secret(path: Path, home: Path, person: Path | None = None) -> bool:
    """Whether a file is of a kind that holds keys, passwords or tokens."""
    if is_own_secret(path, home) or str(path) in SECRET_FILES:
        return True
    if any(fnmatch.fnmatch(path.name, name) for name in NOT_SECRET):
        return False
    if any(fnmatch.fnmatch(path.name, name) for name in SECRET_NAMES):
        return True
    folders = [person / folder for folder in SECRET_FOLDERS] if person else []
    return any(inside(path, real(folder)) for folder in folders) or ".ssh" in path.parts or ".gnupg" in path.parts


def pattern_secret(pattern: Path, places: Places) -> Verdict:
    """Reading what a pattern of names matches: the kind of secrets that may be among it."""
    own = [places.home / name for name in (".env", "server.json")]
    if any(may_match(pattern, secret) for secret in own):
        return Deny(f"{pattern} includes the assistant's own secrets, which are never read", "home")
    others = [places.person / folder for folder in SECRET_FOLDERS] + [Path(file) for file in SECRET_FILES]
    if any(may_match(pattern, secret) for secret in others):
        return Ask(f"{pattern} may include secrets", "secret")
    return Allow()


def may_match(pattern: Path, path: Path) -> bool:
    """Whether a pattern of names may lead to a path or below it."""
    pairs = list(zip(os.path.normpath(pattern).split("/"), path.parts[:1] and str(path).split("/"), strict=False))
    long_enough = len(pattern.parts) >= len(path.parts)
    return long_enough and all(fnmatch.fnmatch(there, wanted) for wanted, there in pairs)


def is_vital(path: Path, places: Places) -> bool:
    """Whether losing all that is below a path would be a catastrophe."""
    there = real(path)
    if str(there) in SYSTEM:
        return True
    return any(inside(real(vital), there) for vital in (places.person, places.home))
