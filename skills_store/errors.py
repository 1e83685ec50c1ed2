"""What the store refuses or cannot do, with a code that programs read and a sentence that people read."""


class StoreError(Exception):
    """Raised when the store says no; `code` is one of the contract's, `hint` says what to do instead."""

    def __init__(self, message: str, code: str = "invalid", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint


class StoreBusyError(StoreError):
    """Raised when another program holds the store, or left a lock behind; trying again later may work."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, "conflict", hint)


class StoreBrokenError(StoreError):
    """Raised when the folder, the disk or git is in a state that only a person can put right."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, "invalid", hint)


class MergeConflictError(StoreError):
    """Raised when two changes touch the same lines; `shown` has both versions between conflict marks."""

    def __init__(self, message: str, shown: str, hint: str = "") -> None:
        super().__init__(message, "conflict", hint)
        self.shown = shown
