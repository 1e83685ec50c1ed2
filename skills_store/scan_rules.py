"""What the scan looks for: one row a rule.  Adding a rule is a row here and a sample in the tests."""

import re
from typing import Literal, NamedTuple

Severity = Literal["block", "warn"]


class Rule(NamedTuple):
    """A pattern, what it means, how bad it is; `quotable`: a line that warns against it only earns a warning."""

    name: str
    severity: Severity
    pattern: re.Pattern[str]
    message: str
    quotable: bool = True


def _rule(name: str, severity: Severity, pattern: str, message: str, quotable: bool = True) -> Rule:
    return Rule(name, severity, re.compile(pattern, re.IGNORECASE), message, quotable)


_SECRET_FILES = (
    r"(?:\.env\b|\.ssh/|id_rsa|id_ed25519|\.aws/credentials|\.netrc|\.pgpass|\.gnupg|/etc/shadow|\.kube/config)"
)
_SENDERS = r"\b(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|socat|http|httpie)\b"
_SHELLS = r"(?:sudo\s+)?(?:env\s+)?(?:ba|z|da|k)?sh\b|(?:sudo\s+)?python3?\b|(?:sudo\s+)?perl\b|(?:sudo\s+)?node\b"
_TOP = (
    r"(?:/(?:\*|\.)?|~/?\*?|\$\{?HOME\}?/?\*?|/(?:etc|usr|var|home|bin|sbin|boot|lib|root|opt|Users|System)(?:/\*?)?)"
    r"(?=[\s;&|'\"`)]|$)"
)
_STARTUP = r"\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)\b"

RULES: tuple[Rule, ...] = (
    _rule(
        "override",
        "block",
        r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|your|system)\b"
        r".{0,30}\b(?:instructions?|prompts?|rules|guidelines|guardrails)\b",
        "tells the model to set its instructions aside",
        False,
    ),
    _rule(
        "override",
        "block",
        r"(?:이전|위의|앞의|앞선|기존|모든|시스템)\s*(?:의\s*)?(?:지시|명령|프롬프트|규칙|지침).{0,20}(?:무시|잊)",
        "tells the model to set its instructions aside",
        False,
    ),
    _rule(
        "role",
        "block",
        r"\byou are (?:now|no longer)\b.{0,60}\b(?:unrestricted|jailbroken|dan|developer mode|bound|free of|without)\b"
        r"|\b(?:enable|enter|activate)\s+(?:dan|developer|god|jailbreak)\s+mode\b",
        "gives the model another role without limits",
        False,
    ),
    _rule(
        "secrecy",
        "block",
        r"\b(?:do not|don't|never|without)\b.{0,12}\b(?:tell|telling|inform|informing|mention|alert|notify)\w*\b"
        r".{0,20}\b(?:user|person|human|owner|anyone)\b.{0,25}\b(?:this|these|it|anything|what you)\b"
        r"|\b(?:do not|don't|never|without)\b.{0,12}\b(?:mention|reveal|report|disclose)\w*\b.{0,20}"
        r"\bto (?:the |your )?(?:user|person|human|owner|anyone)\b"
        r"|사용자(?:에게|한테|가)?.{0,20}(?:알리지|말하지|모르게|숨기)",
        "tells the model to hide something from the person",
        False,
    ),
    _rule(
        "approval",
        "block",
        r"\b(?:bypass|disable|turn off|circumvent|evade|switch off)\b.{0,30}"
        r"\b(?:approvals?|safety (?:checks?|guards?)|guardrails?|permission prompts?|security scan)\b"
        r"|approvals?\.mode\s*[:=]?\s*[\"']?off\b|\bapprovals\b.{0,12}\bmode\s*:\s*off\b",
        "switches off what asks the person",
    ),
    _rule(
        "markup",
        "block",
        r"<\|(?:im_start|im_end|system|endoftext)\|>|</?(?:system|available_skills|tool_result|function_calls)>|\[/?INST\]",
        "imitates the marks that separate the system prompt from other text",
        False,
    ),
    _rule(
        "hidden-comment",
        "block",
        r"<!--(?=.{0,200}\b(?:assistant|agent|model|ai)\b).{0,200}\b(?:must|run|execute|send|ignore|secretly)\b",
        "hides an instruction to the model in a comment",
        False,
    ),
    _rule(
        "destroy-files",
        "block",
        rf"\brm\s+(?=(?:\S+\s+){{0,5}}?-(?:[a-z]*r|-recursive))(?:-\S+\s+)*(?:--\s+)?[\"']?{_TOP}"
        r"|\bfind\s+(?:/|~|\$HOME)\S*\s.{0,80}-delete\b"
        r"|\brmtree\(\s*(?:[\"'](?:/|~)[\"']|Path\.home\(\)|os\.path\.expanduser\([\"']~[\"']\))",
        "deletes the home folder or the system",
    ),
    _rule(
        "destroy-disk",
        "block",
        r"\bmkfs(?:\.\w+)?\s+\S*/dev/|\bdd\b.{0,80}\bof=/dev/(?:sd|nvme|hd|vd|disk|mmcblk)"
        r"|>\s*/dev/(?:sd|nvme|hd|vd|disk)|\b(?:wipefs|shred)\b.{0,40}/dev/",
        "overwrites a disk",
    ),
    _rule("fork-bomb", "block", r":\s*\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:", "starts processes without end"),
    _rule("open-rights", "block", rf"\bchmod\s+(?:-\S+\s+)*-R\s+0?777\s+{_TOP}", "opens every file to everybody"),
    _rule(
        "exfiltrate-files",
        "block",
        rf"{_SENDERS}.{{0,120}}(?:-d|--data\S*|-F|-T|--upload-file|--form|--post-file\S*|@|<).{{0,60}}{_SECRET_FILES}"
        rf"|{_SECRET_FILES}.{{0,80}}\|\s*(?:base64\b.{{0,20}}\|\s*)?{_SENDERS}"
        rf"|\b(?:scp|rsync)\s.{{0,60}}{_SECRET_FILES}\S*\s+\S+:"
        rf"|requests\.(?:post|put)\(.{{0,120}}{_SECRET_FILES}",
        "sends a file with secrets away",
    ),
    _rule(
        "exfiltrate-environment",
        "block",
        rf"\b(?:env|printenv|export -p)\b\s*\|.{{0,60}}{_SENDERS}"
        rf"|{_SENDERS}.{{0,160}}(?:\$\((?:env|printenv)|`(?:env|printenv)`)"
        r"|requests\.(?:post|put)\(.{0,120}os\.environ\b(?!\s*\[|\.get)",
        "sends the environment with its keys away",
    ),
    _rule(
        "exfiltrate-image",
        "block",
        r"!\[[^\]]{0,80}\]\(https?://[^)\s]{1,200}[?&]\w+=(?:\{|\$|<|%7B)",
        "sends text away in the address of a picture",
    ),
    _rule(
        "drop-box",
        "warn",
        r"\b(?:webhook\.site|requestbin|pipedream\.net|burpcollaborator|interact\.sh|oast\.\w+|transfer\.sh|ngrok\.io)\b",
        "names a service that takes data from anybody",
    ),
    _rule(
        "reverse-shell",
        "block",
        r"/dev/tcp/|\b(?:nc|ncat|netcat)\b.{0,40}\s-(?:e|c)\s|\bsocket\b.{0,200}\bdup2\b.{0,100}\bsubprocess|\bbash\s+-i\s*>&",
        "opens a shell for somebody outside",
    ),
    _rule(
        "fetch-and-run",
        "block",
        rf"\b(?:curl|wget)\b[^|;]{{0,200}}(?:http://|https?://\d+\.\d+\.\d+\.\d+)[^|;]{{0,200}}\|\s*(?:{_SHELLS})",
        "runs a program fetched without encryption or from a bare address",
    ),
    _rule(
        "fetch-and-run",
        "warn",
        rf"\b(?:curl|wget)\b[^|;]{{0,300}}\|\s*(?:{_SHELLS})|\b(?:ba|z)?sh\s+(?:-c\s+[\"']?\$\(|<\()\s*(?:curl|wget)\b",
        "runs a program as it comes from the network",
    ),
    _rule(
        "disguise",
        "block",
        rf"\bbase64\s+(?:-d|-D|--decode)\b[^|]{{0,80}}\|\s*(?:{_SHELLS})|\beval\b.{{0,40}}\bbase64\b"
        r"|\b(?:exec|eval)\(.{0,60}(?:b64decode|fromhex|decompress|atob)\b|\bxxd\s+-r\b.{0,60}\|\s*(?:ba)?sh\b",
        "runs a program that is written in disguise",
    ),
    _rule(
        "persist-keys",
        "block",
        r"(?:>>?|\btee\b(?:\s+-a)?).{0,40}authorized_keys\b",
        "lets somebody log in from outside",
    ),
    _rule(
        "persist-schedule",
        "block",
        r"\|\s*crontab\s+-(?:\s|$)|(?:>>?|\btee\b(?:\s+-a)?)\s*/etc/cron|@reboot\s",
        "starts itself by the clock or at each start",
    ),
    _rule(
        "persist-start",
        "block",
        rf"(?<!PATH\")(?<!PATH')(?:>>?|\btee\b(?:\s+-a)?)\s*[\"']?(?:~|\$\{{?HOME\}}?|/root|/home/\w+)?/?{_STARTUP}"
        r"|(?:>>?|\btee\b|\bcp\b).{0,60}(?:LaunchAgents|LaunchDaemons|/etc/rc\.local|/etc/profile|/etc/systemd|autostart/)"
        r"|(?:>>?|\btee\b|\bcp\b|\bln\b).{0,60}\.git/hooks/",
        "puts itself into what runs at every start",
    ),
    _rule(
        "persist-start",
        "warn",
        r"\bsystemctl\b.{0,20}\benable\b|\blaunchctl\s+(?:load|bootstrap)\b",
        "installs a service",
    ),
    _rule(
        "more-rights",
        "block",
        r"(?:>>?|\btee\b(?:\s+-a)?|\bvisudo\b).{0,60}/etc/sudoers|NOPASSWD\s*:\s*ALL|\bchmod\s+(?:u\+s|4[0-7]{3})\s",
        "gives itself the rights of the administrator",
    ),
    _rule(
        "own-rules",
        "block",
        r"(?:>>?|\btee\b(?:\s+-a)?|\bsed\s+-i)\s*.{0,80}(?:\.hermes/config\.yaml|\.hermes/SOUL\.md|\.provenance\.json)",
        "changes the assistant's own settings behind the person's back",
    ),
)

WARNS_AGAINST = re.compile(
    r"\b(?:never|do not|don't|must not|avoid|refuse|dangerous|forbidden|instead of|rather than)\b"
    r"|금지|마세요|말 것|말고|위험",
    re.IGNORECASE,
)
