"""Whatever our own OpenAPI document allows, and much that it does not: never a fault of ours."""

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from tests.fakes.model import ScriptedModel, says

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
STREAMS = ("/v1/runs/{id}/events",)


class Echo(ScriptedModel):
    """Answers everything."""

    def _next(self, request):
        return says("ok")


def test_no_request_is_a_fault_of_ours(served):
    served.model = Echo()
    schema = schemathesis.openapi.from_dict(served.get("/openapi.json").json())
    known = served.run("hello")
    served.frames(known)
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path in STREAMS:
            continue
        examples(operation.as_strategy(), served)


def examples(strategy, served):
    """A bounded number of requests for one endpoint."""

    @settings(
        max_examples=8,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def ask(case):
        response = case.call(base_url=served.url, headers={"Authorization": f"Bearer {served.token}"}, timeout=20)
        case.validate_response(response, checks=CHECKS)

    ask()


@settings(max_examples=20, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(body=st.binary(max_size=200))
def test_any_bytes_as_a_body_are_no_fault_of_ours(running, body):
    for path in ("/v1/runs", "/v1/chat/completions", "/v1/sessions"):
        assert running.http.post(path, content=body).status_code < 500
