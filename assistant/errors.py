"""Everything raised on purpose, sorted by who has to act.

AssistantError
├── ModelCanFix      the model reads it as a tool result and tries something else
│   └── Refused      a guard said no; repeating the call will not help
├── PersonMustAct    shown with the next step; the turn ends             (exit code 2)
│   ├── BadSetting   config.yaml is broken or names something unknown
│   ├── NotFound     no session, run, skill by that name                  (exit code 4)
│   └── Denied       a guard or a policy refuses it to the person         (exit code 3)
├── Conflict         the request contradicts what is stored (HTTP 409)
└── TryLater         the same request may work after `wait` seconds

Any other exception is a defect.
"""


class AssistantError(Exception):
    """Raised on purpose; its text is fit to be read by whoever must act."""

    exit_code = 1


class ModelCanFix(AssistantError):
    """Raised when the model asked for something it can ask for differently."""


class Refused(ModelCanFix):
    """Raised when a guard said no."""


class PersonMustAct(AssistantError):
    """Raised when only a person can put this right."""

    exit_code = 2


class BadSetting(PersonMustAct):
    """Raised when a setting is unknown or has the wrong type."""


class NotFound(PersonMustAct):
    """Raised when nothing goes by that name or id."""

    exit_code = 4


class Denied(PersonMustAct):
    """Raised when a guard refuses what the person asked for."""

    exit_code = 3


class Conflict(AssistantError):
    """Raised when a request contradicts what is already stored."""


class TryLater(AssistantError):
    """Raised for a passing fault outside this process."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait
