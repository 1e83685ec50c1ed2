"""Whatever was raised, as the error object of the contract."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from assistant.errors import (
    AssistantError,
    BadSetting,
    Conflict,
    Denied,
    ModelCanFix,
    NotFound,
    PersonMustAct,
    TryLater,
)
from skills_store.errors import StoreError

RETRY_SECONDS = 1


class BadRequest(PersonMustAct):
    """Raised when a request cannot be understood; names the field."""

    def __init__(
        self, message: str, code: str = "invalid_request", param: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.code = code
        self.param = param
        self.status = status


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as it is answered."""

    status: int
    message: str
    type: str
    code: str
    param: str | None = None

    def body(self) -> dict[str, Any]:
        """The JSON of the contract."""
        return {"error": {"message": self.message, "type": self.type, "code": self.code, "param": self.param}}

    def headers(self) -> Mapping[str, str]:
        """What a client needs besides."""
        if self.status == 401:
            return {"WWW-Authenticate": "Bearer"}
        return {"Retry-After": str(RETRY_SECONDS)} if self.status == 503 else {}


TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "conflict_error",
    413: "invalid_request_error",
    500: "server_error",
    503: "server_error",
}
STATUS: tuple[tuple[type[AssistantError], int, str], ...] = (
    (NotFound, 404, "not_found"),
    (Denied, 403, "denied"),
    (BadSetting, 400, "bad_setting"),
    (PersonMustAct, 400, "person_must_act"),
    (Conflict, 409, "conflict"),
    (ModelCanFix, 400, "refused"),
    (TryLater, 503, "try_later"),
)
"""The first line that fits decides."""
STORE_STATUS = {"not_found": 404, "exists": 409, "ambiguous": 409, "conflict": 409, "ownership": 403, "pinned": 403}


def fault(status: int, message: str, code: str, param: str | None = None) -> Fault:
    """An error of a status."""
    return Fault(status, message, TYPES.get(status, "invalid_request_error"), code, param)


def fault_of(problem: Exception) -> Fault | None:
    """The answer to what was raised on purpose; None for a defect."""
    if isinstance(problem, ValidationError):
        return unreadable(problem)
    if isinstance(problem, BadRequest):
        return fault(problem.status, str(problem), problem.code, problem.param)
    if isinstance(problem, StoreError):
        words = ". ".join(part for part in (problem.message, problem.hint) if part)
        return fault(STORE_STATUS.get(problem.code, 400), words, problem.code or "refused")
    found = next(((status, code) for kind, status, code in STATUS if isinstance(problem, kind)), None)
    return found and fault(found[0], str(problem), found[1])


def unreadable(problem: ValidationError) -> Fault:
    """Every complaint about a request in one sentence, with the first field."""
    said, fields = [], []
    for item in problem.errors(include_url=False):
        where = ".".join(str(part) for part in item["loc"])
        fields.append(where)
        said.append(f"{where}: {item['msg']}" if where else f"the body: {item['msg']}")
    return fault(400, "; ".join(said[:5]), "invalid_request", fields[0] or None)
