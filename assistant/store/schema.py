"""The tables.  A released step is never edited: the next change is the next step, and VERSION in `database` follows."""

from sqlite_utils import Database, Migrations

from assistant.store.words import TABLE

migrations = Migrations("assistant")


@migrations()
def m001_first(db: Database) -> None:
    """Everything DESIGN 4 lists."""
    for statement in (*FIRST.split(";\n"), TABLE):
        if statement.strip():
            db.execute(statement)


FIRST = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL DEFAULT '',
    named_by_person INTEGER NOT NULL DEFAULT 0,
    model TEXT NOT NULL DEFAULT '',
    instructions TEXT NOT NULL DEFAULT '',
    workdir TEXT NOT NULL DEFAULT '',
    system TEXT NOT NULL DEFAULT '',
    tools TEXT NOT NULL DEFAULT '',
    prompt_key TEXT NOT NULL DEFAULT '',
    skills_seen TEXT NOT NULL DEFAULT '{}',
    parent TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    updated TEXT NOT NULL
);
CREATE INDEX sessions_by_time ON sessions (updated);

CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    run_id TEXT NOT NULL DEFAULT '',
    role TEXT NOT NULL,
    text TEXT NOT NULL,
    sent TEXT,
    calls TEXT NOT NULL DEFAULT '',
    answers TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT '',
    failed INTEGER NOT NULL DEFAULT 0,
    origin TEXT NOT NULL,
    reasoning TEXT NOT NULL DEFAULT '',
    compacted TEXT NOT NULL DEFAULT '',
    place INTEGER,
    at TEXT NOT NULL
);
CREATE INDEX messages_of_session ON messages (session_id, id);
CREATE INDEX messages_of_run ON messages (run_id, id);

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    answered_by TEXT NOT NULL DEFAULT '',
    instructions TEXT NOT NULL DEFAULT '',
    input TEXT NOT NULL DEFAULT '',
    parent TEXT NOT NULL DEFAULT '',
    review_kind TEXT NOT NULL DEFAULT '',
    upto_message INTEGER NOT NULL DEFAULT 0,
    executor TEXT NOT NULL DEFAULT '',
    reserved_for TEXT NOT NULL DEFAULT '',
    resumed INTEGER NOT NULL DEFAULT 0,
    stop_wanted INTEGER NOT NULL DEFAULT 0,
    output TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    steps INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    last_event INTEGER NOT NULL DEFAULT 0,
    idempotency_key TEXT,
    idempotency_hash TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    started TEXT,
    finished TEXT,
    beat TEXT,
    orphaned TEXT
);
CREATE UNIQUE INDEX runs_by_key ON runs (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_open ON runs (status, created) WHERE finished IS NULL;
CREATE INDEX runs_of_session ON runs (session_id, created);
CREATE INDEX runs_by_time ON runs (created);

CREATE TABLE events (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;

CREATE TABLE incoming (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    run_id TEXT NOT NULL DEFAULT '',
    mode TEXT NOT NULL,
    text TEXT NOT NULL,
    created TEXT NOT NULL,
    taken TEXT
);
CREATE INDEX incoming_open ON incoming (session_id, id) WHERE taken IS NULL;

CREATE TABLE intents (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    process_group INTEGER NOT NULL DEFAULT 0,
    started TEXT NOT NULL,
    finished TEXT,
    PRIMARY KEY (run_id, call_id)
) WITHOUT ROWID;

CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    call_hash TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    why TEXT NOT NULL,
    rule TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    attended_seconds REAL NOT NULL DEFAULT 0,
    told INTEGER NOT NULL DEFAULT 0,
    decision TEXT NOT NULL DEFAULT '',
    decided_by TEXT NOT NULL DEFAULT '',
    feedback TEXT NOT NULL DEFAULT '',
    decided TEXT
);
CREATE INDEX approvals_of_run ON approvals (run_id, call_id);

CREATE TABLE grants (
    session_id TEXT NOT NULL,
    rule TEXT NOT NULL,
    created TEXT NOT NULL,
    PRIMARY KEY (session_id, rule)
) WITHOUT ROWID;

CREATE TABLE questions (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    text TEXT NOT NULL,
    choices TEXT NOT NULL,
    created TEXT NOT NULL,
    attended_seconds REAL NOT NULL DEFAULT 0,
    answer TEXT,
    answered TEXT
);
CREATE INDEX questions_of_run ON questions (run_id, call_id);

CREATE TABLE todos (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    items TEXT NOT NULL
);

CREATE TABLE counters (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    steps_since_skill INTEGER NOT NULL DEFAULT 0,
    turns_since_memory INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE reviews (
    run_id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    focus TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL DEFAULT 'waiting',
    commits TEXT NOT NULL DEFAULT '[]',
    line TEXT NOT NULL DEFAULT '',
    seconds REAL NOT NULL DEFAULT 0,
    at TEXT NOT NULL
);
CREATE INDEX reviews_of_session ON reviews (session_id);

CREATE TABLE evidence (
    run_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    message_id INTEGER NOT NULL,
    quote TEXT NOT NULL,
    session_id TEXT NOT NULL,
    PRIMARY KEY (run_id, call_id, message_id, quote)
) WITHOUT ROWID;
CREATE INDEX evidence_of_session ON evidence (session_id);

CREATE TABLE marks (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (run_id, path)
) WITHOUT ROWID;

CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX usage_by_time ON usage (kind, at);

CREATE TABLE skill_usage (
    name TEXT PRIMARY KEY,
    views INTEGER NOT NULL DEFAULT 0,
    uses INTEGER NOT NULL DEFAULT 0,
    patches INTEGER NOT NULL DEFAULT 0,
    last_used TEXT,
    last_viewed TEXT,
    last_patched TEXT,
    created TEXT
);

CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    prompt TEXT NOT NULL,
    schedule TEXT NOT NULL,
    skills TEXT NOT NULL DEFAULT '[]',
    enabled INTEGER NOT NULL DEFAULT 1,
    next_run TEXT,
    last_run TEXT,
    created TEXT NOT NULL
);

CREATE TABLE facts (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
)
"""
