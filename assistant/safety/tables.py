"""What programs do, as far as verdicts turn on it.  A new program is a new entry here and a row in the tests."""

from collections.abc import Mapping


def words(text: str) -> frozenset[str]:
    """A set of words, written on one line."""
    return frozenset(text.split())


SPEAKERS = words(
    "echo printf true false : pwd cd pushd popd dirs date seq sleep basename dirname uname arch nproc "
    "whoami id groups logname hostname uptime free df ps pgrep tty test [ [[ expr let read type which "
    "whence hash wait set shift unset local declare typeset readonly export alias unalias return exit "
    "break continue times ulimit umask getopts printenv locale cal factor yes man apropos whatis help "
    "jobs lsblk lscpu lsof ss netstat tput clear who w last lastlog top vmstat iostat history"
)
"""Print or compute; their words are not files."""

READERS = words(
    "ls dir vdir cat tac head tail wc grep egrep fgrep rg ag nl cut tr sort uniq rev paste comm join diff "
    "cmp sdiff column fold fmt expand unexpand md5sum sha1sum sha224sum sha256sum sha384sum sha512sum "
    "b2sum cksum sum base64 base32 xxd od hexdump strings jq tree stat file du readlink realpath find fd "
    "locate less more zcat zgrep zless bzcat xzcat sed awk gawk mawk nawk iconv cloc tokei scc bat "
    "pdftotext pdfinfo identify ffprobe exiftool nm objdump readelf size shuf tsort look numfmt pr "
    "xmllint bc json.tool journalctl dmesg"
)
"""Read files and print; the options below make some of them write or run something."""

NAMES_ONLY = words("ls dir vdir du stat tree readlink realpath locate")
"""Print names and sizes, never what is in a file: they may look at secrets from outside."""

PATTERN_FIRST = words("grep egrep fgrep zgrep rg ag jq sed awk gawk mawk nawk")
"""Their first word is a pattern or a program, not a file."""

RUNNING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "sort": ("--compress-program", "-o", "--output", "-T", "--files0-from"),
    "rg": ("--pre", "--hostname-bin", "--pre-glob"),
    "ag": ("--pager",),
    "man": ("-P", "--pager", "-H", "--html", "-C", "--config-file", "-B"),
    "bat": ("--pager",),
    "less": ("-o", "-O", "--log-file", "--LOG-FILE", "-k", "--lesskey-file", "--lesskey-src"),
    "fd": ("-x", "--exec", "-X", "--exec-batch"),
    "tree": ("-o", "--fromfile", "--fromtabfile", "--infofile", "--gitfile"),
    "du": ("--files0-from", "-X", "--exclude-from"),
    "date": ("-s", "--set"),
    "file": ("-C", "--compile", "-m", "--magic-file"),
    "jq": ("-f", "--from-file", "-L"),
    "iconv": ("-o", "--output"),
    "shuf": ("-o", "--output"),
    "diff": ("--output",),
    "xmllint": ("--output", "-o"),
    "exiftool": ("-o", "-if", "-config", "-execute", "-overwrite_original", "-w"),
    "hostname": ("-F", "--file"),
    "awk": ("-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"),
    "sed": ("-f", "--file", "-i", "--in-place"),
    "journalctl": ("--vacuum-size", "--vacuum-time", "--vacuum-files", "--rotate", "--flush", "--setup-keys"),
    "dmesg": ("-C", "-c", "--clear", "--read-clear", "-D", "-E", "-n"),
    "zip": ("-T", "-m", "--test", "--move", "--unzip-command"),
    "tar": (
        *("-I", "--use-compress-program", "--to-command", "--checkpoint-action", "--remove-files"),
        *("-F", "--info-script", "--new-volume-script", "--rsh-command"),
    ),
}
"""Options of quiet programs that start a program, load one, or write a file."""

VALUED: Mapping[str, str] = {
    "date": "Idr",
    "sort": "kSt",
    "rg": "tTgABCmjEr",
    "grep": "ABCm",
    "exiftool": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), "Fv"),
}
"""Letters of options that take the rest of their word as their value."""

SECOND_IS_OUTPUT = frozenset({"uniq", "xxd", "json.tool"})
"""Their second file is written."""

TARGETS_LAST = frozenset({"cp", "install", "ln", "rsync", "scp"})
"""The last operand is written, the others are read."""
TARGETS_ALL = words(
    "tee mkdir mv rm rmdir unlink shred touch truncate chmod chown chgrp chattr setfacl patch ed ex vi "
    "vim nvim nano emacs gzip gunzip bzip2 bunzip2 xz unxz zstd unzip zip tar split csplit rename sponge "
    "dos2unix unix2dos mkfifo mknod logrotate cpio 7z rar unrar srm wipe trash trash-put trash-cli "
    "sqlite3"
)
"""Every operand may be written."""
FREE_WRITERS: Mapping[str, str] = {
    **dict.fromkeys(("tee", "mkdir", "cp", "mv", "ln", "rmdir", "zip"), ".*"),
    "chmod": r"([ugo]*|a)[+-][rxX]+|u[+-][rwxX]+|[4-7][0145]{2}",
    "tar": r"-?[zjJa]*[ct][vzjJa]*f",
    "unzip": "-l",
}
"""Run unasked where their targets may be written, if their first word is of this form."""

PROJECT = words(
    "make gmake ninja cmake ctest pytest py.test tox nox ruff mypy pyright black isort flake8 pylint "
    "pycodestyle bandit eslint prettier tsc jest vitest mocha gcc g++ cc c++ clang clang++ ld ar rustc "
    "rustfmt clippy-driver javac gofmt shellcheck shfmt yamllint markdownlint hadolint sphinx-build "
    "mkdocs clang-format clang-tidy"
)
"""Build and check what is in the working folder; they run the project's own code."""

SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "cargo": words("build check test clippy fmt doc tree metadata bench version"),
    "go": words("build test vet fmt list env version doc"),
    "npm": words("test t run run-script ls list outdated version root bin"),
    "yarn": words("test run list why"),
    "pnpm": words("test run ls list why"),
    "gradle": words("build test check tasks"),
    "mvn": words("compile test verify package"),
    "dotnet": words("build test"),
    "pip": words("list show freeze check help"),
    "uv": frozenset({"version", "tree"}),
    "docker": words("ps images logs inspect version info top stats port diff history"),
    "podman": words("ps images logs inspect version info top stats port diff history"),
    "systemctl": words("status list-units list-unit-files is-active is-enabled is-failed show cat"),
    "brew": words("list info"),
    "apt": words("list show search"),
    "crontab": frozenset({"-l"}),
    "dpkg": frozenset({"-l", "-L", "-s", "-S", "--list", "--status", "--listfiles", "--search"}),
    "conda": words("list info"),
    "assistant": frozenset({"--version", "--help", "status", "doctor"}),
}
"""The harmless subcommands of programs with many."""

INTERPRETERS = words(
    "python python2 python3 pypy pypy3 node nodejs deno bun ts-node perl ruby irb php lua luajit Rscript "
    "R julia tclsh wish osascript pwsh powershell gdb lldb dc m4 expect ghci scala groovy java jshell "
    "swift guile racket sbcl elixir iex erl octave gnuplot psql mysql ipython jupyter"
)
"""Run a program in a language of their own."""
SHELLS = words("sh bash zsh dash ksh mksh ash fish csh tcsh rbash")

NETWORK = words(
    "curl wget http https httpie aria2c ssh scp sftp rsync ftp lftp telnet nc ncat netcat socat nmap ping "
    "ping6 dig host nslookup whois traceroute tracepath mtr openssl w3m lynx links elinks gh glab hub aws "
    "gcloud az kubectl helm terraform ansible ansible-playbook docker podman pip pip3 pipx uv uvx npx npm "
    "yarn pnpm bunx gem bundle cargo go composer mvn gradle brew apt apt-get dnf yum pacman snap flatpak "
    "mail sendmail mutt msmtp fetchmail youtube-dl yt-dlp rclone restic s3cmd mosh tailscale cloudflared "
    "ngrok conda mamba poetry pdm hatch twine vercel netlify heroku fly flyctl psql mysql mongosh "
    "redis-cli"
)
"""Talk to other machines, always or with some subcommand."""
GIT_NETWORK = words("clone fetch pull push ls-remote remote submodule archive svn send-email request-pull")

SETTINGS = words(
    "PATH IFS BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND CDPATH GLOBIGNORE LESSOPEN LESSCLOSE "
    "PAGER MANPAGER EDITOR VISUAL BROWSER PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT PERL5OPT "
    "PERL5LIB PERLLIB RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH CLASSPATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS "
    "MAKEFLAGS MAKEFILES RUSTC_WRAPPER RUSTFLAGS CC CXX HOME HERMES_HOME TMPDIR SHELL TERMINFO "
    "TAR_OPTIONS RIPGREP_CONFIG_PATH MANOPT GREP_OPTIONS http_proxy https_proxy HTTP_PROXY HTTPS_PROXY "
    "ALL_PROXY SSH_ASKPASS SUDO_ASKPASS CARGO_HOME GOFLAGS npm_config_script_shell"
)
"""Variables that change what another command does."""
SETTING_FAMILIES = ("LD_", "DYLD_", "GIT_", "BASH_FUNC_", "OPENSSL_", "SSH_", "GCONV_", "npm_config_")

RISKY: Mapping[str, str] = {
    "rm": "it deletes files",
    "unlink": "it deletes a file",
    "shred": "it destroys files",
    "srm": "it destroys files",
    "truncate": "it cuts files",
    "dd": "it copies raw data over files or disks",
    "chmod": "it changes who may use files",
    "chown": "it changes whose files are",
    "kill": "it ends other programs",
    "pkill": "it ends other programs",
    "killall": "it ends other programs",
    "crontab": "it makes something run later",
    "at": "it makes something run later",
    "systemctl": "it changes services of the machine",
    "service": "it changes services of the machine",
    "launchctl": "it changes services of the machine",
    "mount": "it changes the machine's disks",
    "umount": "it changes the machine's disks",
    "iptables": "it changes the firewall",
    "useradd": "it changes accounts",
    "userdel": "it changes accounts",
    "passwd": "it changes a password",
    "source": "it runs a script in this shell",
    ".": "it runs a script in this shell",
    "enable": "it can load code into the shell",
    "parallel": "it runs commands that are known only then",
    "patch": "it changes files named in its input",
    "tar": "it may overwrite files",
    "unzip": "it may overwrite files",
}
"""Why some commands ask, in words; others ask because nobody knows them."""

FATAL_PROGRAMS: Mapping[str, str] = {
    "mkfs": "it formats a disk",
    "mke2fs": "it formats a disk",
    "mkswap": "it formats a disk",
    "newfs": "it formats a disk",
    "wipefs": "it erases a disk",
    "blkdiscard": "it erases a disk",
    "sgdisk": "it changes the partitions of a disk",
    "sfdisk": "it changes the partitions of a disk",
    "shutdown": "it turns the machine off",
    "reboot": "it restarts the machine",
    "halt": "it stops the machine",
    "poweroff": "it turns the machine off",
    "kexec": "it restarts the machine",
}
"""Never run for a model, whoever agrees."""
FATAL_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "systemctl": words("poweroff reboot halt kexec emergency rescue suspend hibernate"),
    "init": frozenset({"0", "1", "6"}),
    "telinit": frozenset({"0", "1", "6"}),
    "diskutil": frozenset({"eraseDisk", "eraseVolume", "reformat", "zeroDisk", "secureErase"}),
}

GIT_READS = words(
    "status log diff show rev-parse rev-list ls-files ls-tree cat-file blame annotate describe shortlog "
    "grep name-rev merge-base for-each-ref show-ref count-objects check-ignore check-attr diff-tree "
    "diff-index diff-files whatchanged cherry range-diff version help var verify-commit verify-tag fsck "
    "show-branch --version --help"
)
GIT_WORKS = words("add commit init mv")
"""Run unasked in the working folder: nothing is lost by them."""
GIT_WORKS_WITH: Mapping[str, tuple[frozenset[str], ...]] = {
    "switch": (words(""), words("-c"), words("--create")),
    "checkout": (words("-b"),),
    "branch": (words(""),),
    "tag": (words(""),),
}
"""The same, with exactly these options."""
GIT_READS_BARE: Mapping[str, frozenset[str]] = {
    "branch": words("-a -r -v -vv --list --all --remotes --show-current --contains --merged --no-merged"),
    "tag": frozenset({"-l", "--list", "-n"}),
    "remote": frozenset({"-v", "--verbose", "show", "get-url"}),
    "stash": frozenset({"list", "show"}),
    "config": frozenset({"--get", "--list", "-l", "--get-all", "--get-regexp", "--show-origin"}),
    "worktree": frozenset({"list"}),
    "reflog": frozenset({"show"}),
    "notes": frozenset({"list", "show"}),
    "submodule": frozenset({"status"}),
    "bisect": frozenset({"log"}),
}
"""Read when every word after them is an option named here, or the first is."""
GIT_OPTIONS_BEFORE = ("-c", "--config-env", "--exec-path")
"""Options before the subcommand that set what git runs."""
GIT_OPTIONS_AFTER = (
    "--ext-diff",
    "--textconv",
    "--output",
    "-O",
    "--open-files-in-pager",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--template",
)
"""Options of subcommands that run or write something."""
