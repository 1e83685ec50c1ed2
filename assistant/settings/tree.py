"""The settings tree: what `config.yaml` may say.  The text under each field is its documentation everywhere."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    field_validator,
    model_validator,
)


def _variable_name(given: str) -> str:
    """Catches a key pasted where the name of its variable belongs; the words never repeat it."""
    if given and not given.replace("_", "a").isalnum():
        raise ValueError("it must be the name of an environment variable; the key itself belongs into .env")
    return given


def _worded(yes: str, no: str) -> BeforeValidator:
    """Booleans where a word is meant."""
    return BeforeValidator(lambda given: (yes if given else no) if isinstance(given, bool) else given)


Texts = Annotated[tuple[str, ...], Strict(False)]
Approval = Annotated[Literal["false", "learning", "all"], _worded("all", "false")]
OnOff = Annotated[Literal["on", "off"], _worded("on", "off")]
Effect = Annotated[Literal["allow", "ask", "deny"], _worded("allow", "deny")]
VariableName = Annotated[str, AfterValidator(_variable_name)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(gt=0, lt=1)]


class Group(BaseModel):
    """Settings that belong together: frozen, nothing unknown, nothing guessed."""

    # Validators are built once, for the whole tree, when it is first filled: half the cost of one for each group.
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True, hide_input_in_errors=True)


class ModelSettings(Group):
    """The model that answers."""

    name: str = ""
    """Empty: OPENAI_* from the environment, else what setup stored; `builtin`: the built-in model."""
    base_url: str = ""
    """Where an OpenAI-compatible service answers; empty: OPENAI_BASE_URL, else OpenAI's own."""
    api_key_env: VariableName = "OPENAI_API_KEY"
    """The environment variable that holds the key."""
    context_window: Count = 0
    """Tokens the model can read at once; 0: from the catalogue."""
    fallback: str = ""
    """A second model for the rest of a turn when the first stays away."""


class AgentSettings(Group):
    """A turn."""

    max_steps: Positive = 90
    """Requests to the model that one turn may make."""


class MemorySettings(Group):
    """MEMORY.md and USER.md."""

    memory_enabled: bool = True
    """Keep MEMORY.md, the notes on how things are."""
    user_profile_enabled: bool = True
    """Keep USER.md, what is known of you."""
    nudge_interval: int = 10
    """Review memory after this many of your turns; 0: never."""
    memory_char_limit: Positive = 2200
    """Most characters in MEMORY.md."""
    user_char_limit: Positive = 1375
    """Most characters in USER.md."""
    write_approval: Approval = "false"
    """Which writes wait for you: false, learning (review and curator) or all."""


class SkillSettings(Group):
    """The library of skills."""

    creation_nudge_interval: int = 10
    """Review skills after this many steps; 0: never."""
    write_approval: Approval = "false"
    """Which writes wait for you: false, learning (review and curator) or all."""
    scan: bool = True
    """Look for secrets, injection and dangerous scripts in what review and curator write."""
    index_tokens: Count = 1500
    """How much of the prompt the list of skills may take."""
    external_dirs: Texts = ()
    """More folders of skills, read and never changed."""
    disabled: Texts = ()
    """Names of skills that the model does not see."""
    sync: str = ""
    """A git remote for `assistant skills sync`."""


class ReviewSettings(Group):
    """Looking back after a turn."""

    max_steps: Positive = 16
    """Requests to the model that one review may make."""
    model: str = ""
    """A model for reviews alone; empty: the same as for turns."""
    notify: OnOff = "on"
    """Say in one line what a review saved: on or off."""
    daily_tokens: Count = 500_000
    """Tokens that reviews may spend in a day; 0: no limit."""
    sweep: bool = True
    """Review what idle sessions left below the interval."""


class CuratorSettings(Group):
    """Upkeep of the skills that the assistant made."""

    enabled: bool = True
    """Mark unused skills stale, later archive them."""
    interval_hours: Positive = 168
    """Hours between two passes."""
    min_idle_hours: Annotated[float, Field(ge=0)] = 2
    """Hours of quiet before a pass may begin."""
    stale_after_days: Positive = 30
    """Days without use until a skill is stale."""
    archive_after_days: Positive = 90
    """Days without use until a skill is archived."""
    consolidate: bool = False
    """Merge skills that overlap."""
    prune_builtins: bool = False
    """Let bundled skills age too."""

    @model_validator(mode="after")
    def _stale_comes_first(self) -> "CuratorSettings":
        if self.archive_after_days < self.stale_after_days:
            raise ValueError("archive_after_days must not be smaller than stale_after_days")
        return self


class CompressionSettings(Group):
    """Shortening a long conversation."""

    threshold: Share = 0.75
    """Shorten when this share of the context window is full."""
    keep_recent: Share = 0.2
    """The newest share of the window that stays whole."""

    @model_validator(mode="after")
    def _something_is_left_to_shorten(self) -> "CompressionSettings":
        if self.keep_recent >= self.threshold:
            raise ValueError("keep_recent must be smaller than threshold")
        return self


class Rule(Group):
    """One line of your own policy."""

    action: str
    """What is done, for example `terminal`; `*` for anything."""
    target: str = "*"
    """What it is done to: a pattern with `*`."""
    effect: Effect
    """allow, ask or deny; true and false mean allow and deny."""


class ApprovalSettings(Group):
    """What the assistant may do without asking."""

    mode: Literal["smart", "manual", "off"] = "smart"
    """smart: ask when it is risky; manual: ask before every effect; off: never ask."""
    timeout: Positive = 300
    """Seconds a question waits while somebody is there."""
    rules: Annotated[tuple[Rule, ...], Strict(False)] = ()
    """Rules of your own, {action, target, effect: allow|ask|deny}; the last that matches wins."""


class TerminalSettings(Group):
    """Where commands run."""

    backend: Literal["local", "bubblewrap"] = "local"
    """local, or bubblewrap: in a sandbox of the kernel."""
    timeout: Positive = 180
    """Seconds a command may take."""
    workdir: str = ""
    """The folder where commands start; empty: where the assistant was started."""
    network: bool = True
    """In a sandbox: may commands reach the network."""
    isolated: bool = False
    """Your word that nothing of the host can be written here."""
    pass_env: Annotated[tuple[VariableName, ...], Strict(False)] = ()
    """Environment variables that commands may see."""


class WebSettings(Group):
    """Reading the web."""

    allow_private: bool = False
    """Let web_fetch reach this machine and the local network."""


class McpServer(Group):
    """One server of tools: a command to start, or an address."""

    command: str = ""
    """A program that speaks MCP on its standard input and output."""
    args: Texts = ()
    """Arguments of the program."""
    env: Mapping[str, str] = Field(default_factory=dict)
    """Environment of the program."""
    url: str = ""
    """The address of a server that already runs."""
    headers: Mapping[str, str] = Field(default_factory=dict)
    """Headers sent to the address."""

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> "McpServer":
        if bool(self.command) == bool(self.url):
            raise ValueError("it needs either command or url")
        return self


class McpSettings(Group):
    """Tools from elsewhere."""

    servers: Mapping[str, McpServer] = Field(default_factory=dict)
    """name: {command, args, env} or {url, headers}."""


class ServerSettings(Group):
    """The server for other programs."""

    host: str = "127.0.0.1"
    """The address to listen on."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8642
    """The port; 0: any free one."""
    api_key_env: VariableName = "ASSISTANT_API_KEY"
    """The environment variable that holds the key clients must send."""
    allowed_hosts: Texts = ()
    """Host names, beside this machine's, that requests may name."""
    max_concurrent_runs: Positive = 64
    """Runs that work at the same time; more wait."""
    retention_days: Positive = 30
    """Days the events of ended runs are kept."""


class DisplaySettings(Group):
    """What the terminal shows."""

    tools: Literal["line", "off"] = "line"
    """line: one line a tool call; off: none."""
    markdown: bool = True
    """Render answers; false: plain text."""


class Settings(Group):
    """The whole of config.yaml."""

    model: ModelSettings = ModelSettings.model_construct()
    agent: AgentSettings = AgentSettings.model_construct()
    memory: MemorySettings = MemorySettings.model_construct()
    skills: SkillSettings = SkillSettings.model_construct()
    review: ReviewSettings = ReviewSettings.model_construct()
    curator: CuratorSettings = CuratorSettings.model_construct()
    compression: CompressionSettings = CompressionSettings.model_construct()
    approvals: ApprovalSettings = ApprovalSettings.model_construct()
    terminal: TerminalSettings = TerminalSettings.model_construct()
    web: WebSettings = WebSettings.model_construct()
    mcp: McpSettings = McpSettings.model_construct()
    server: ServerSettings = ServerSettings.model_construct()
    display: DisplaySettings = DisplaySettings.model_construct()
    timezone: str = ""
    """The zone that times are shown in, for example Europe/Berlin; empty: the machine's."""

    @field_validator("timezone")
    @classmethod
    def _a_known_zone(cls, value: str) -> str:
        try:
            return value and ZoneInfo(value).key
        except (OSError, ValueError, KeyError):
            raise ValueError("it must be the name of a time zone, for example Europe/Berlin") from None


def settings(group: type[BaseModel] = Settings, at: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every setting in the order of the tree: its dotted name, its class and field, its default."""
    for name, field in group.model_fields.items():
        if isinstance(field.default, Group):
            yield from settings(type(field.default), f"{at}{name}.")
        else:
            yield f"{at}{name}", f"{group.__name__}.{name}", field.get_default(call_default_factory=True)


def leaves() -> dict[str, Any]:
    """Every setting by its dotted name, with its default."""
    return {key: default for key, _, default in settings()}
