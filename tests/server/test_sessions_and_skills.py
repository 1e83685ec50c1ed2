"""Sessions, skills and what waits, over HTTP."""

import pytest

from skills_store.plan import Wish
from skills_store.values import Actor, Cause
from tests.fakes.model import calls, says

SKILL = "---\nname: {0}\ndescription: Use when {0}.\n---\n\n# {0}\n\n{1}\n"


def learn(served, name="tidying", body="Do it."):
    wish = Wish("create", name, content=SKILL.format(name, body))
    return served.parts.library.manage(wish, Cause(Actor.YOU, "by hand"))


def test_a_session_is_made_named_read_forked_searched_and_deleted(served):
    served.script(says("The rent was paid in May."), says("again"))
    made = served.post("/v1/sessions", title="House", instructions="Be brief.").json()
    assert (made["object"], made["title"], made["messages"]) == ("session", "House", 0)
    run_id = served.run("when was the rent paid?", session_id=made["id"])
    served.frames(run_id)

    messages = served.get(f"/v1/sessions/{made['id']}/messages").json()["data"]
    assert [(m["role"], m["text"]) for m in messages] == [
        ("user", "when was the rent paid?"),
        ("assistant", "The rent was paid in May."),
    ]
    assert "Be brief." in served.model.requests[0].system
    (hit, *_) = served.get("/v1/search", q="rent").json()["data"]
    assert hit["session_id"] == made["id"]
    fork = served.post(f"/v1/sessions/{made['id']}/fork", before_message=messages[1]["id"]).json()
    assert [m["text"] for m in served.get(f"/v1/sessions/{fork['id']}/messages").json()["data"]] == [
        messages[0]["text"]
    ]
    renamed = served.http.patch(f"/v1/sessions/{made['id']}", json={"title": "Rent"}).json()
    assert renamed["title"] == "Rent"
    assert served.http.delete(f"/v1/sessions/{made['id']}").json()["deleted"] is True
    assert served.get(f"/v1/sessions/{made['id']}").status_code == 404
    assert served.get(f"/v1/runs/{run_id}").status_code == 404
    assert [s["id"] for s in served.get("/v1/sessions").json()["data"]] == [fork["id"]]


def test_a_session_with_a_living_run_is_not_deleted(served):
    served.script(calls("terminal", command="rm -rf build"), says("done"))
    run_id = served.run("clean")
    served.until(run_id, "approval.requested")

    refused = served.http.delete(f"/v1/sessions/{served.session}")

    assert refused.status_code == 409
    assert run_id in refused.json()["error"]["message"]
    served.post(f"/v1/runs/{run_id}/stop")
    served.frames(run_id)
    assert served.http.delete(f"/v1/sessions/{served.session}").status_code == 200


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/sessions"])
def test_lists_come_in_pages(served, path):
    served.script(*[says("ok")] * 5)
    for number in range(5):
        served.frames(served.run(f"number {number}"))
    key = {"/v1/runs": "run_id", "/v1/sessions": "id"}[path]

    first = served.get(path, limit=2).json()
    second = served.get(path, limit=2, after=first["data"][-1][key]).json()
    third = served.get(path, limit=2, after=second["data"][-1][key]).json()

    seen = [item[key] for part in (first, second, third) for item in part["data"]]
    assert len(seen) == len(set(seen)) == 5
    assert [part["has_more"] for part in (first, second, third)] == [True, True, False]


def test_runs_are_listed_by_session_and_state(served):
    served.script(says("ok"), says("ok"))
    served.frames(served.run("one"))
    first = served.session
    served.frames(served.run("two"))

    assert [run["input"] for run in served.get("/v1/runs", session_id=first).json()["data"]] == ["one"]
    assert len(served.get("/v1/runs", status="completed").json()["data"]) == 2
    assert served.get("/v1/runs", status="failed").json()["data"] == []


def test_a_run_as_an_object(served):
    served.script(says("ok"))
    run_id = served.run("one")
    served.frames(run_id)

    run = served.get(f"/v1/runs/{run_id}").json()

    assert {
        "object": "run",
        "kind": "turn",
        "status": "completed",
        "output": "ok",
        "error": None,
    }.items() <= run.items()
    assert run["usage"].keys() == {"input_tokens", "output_tokens", "cached_tokens"}
    assert run["created_at"] <= run["started_at"] <= run["finished_at"]
    assert (run["steps"], run["resumed"], run["approvals"], run["questions"]) == (1, 0, [], [])


def test_a_skill_is_listed_read_explained_and_undone(served):
    learn(served)
    listed = served.get("/v1/skills").json()["data"]
    assert "tidying" in [skill["name"] for skill in listed]
    assert served.get("/v1/skills", q="tidying").json()["data"][0]["name"] == "tidying"

    page = served.get("/v1/skills/tidying").json()
    assert "Do it." in page["content"]
    assert (page["owner"], page["provenance"]["owner"]) == ("you", "you")
    (change,) = served.get("/v1/skills/tidying/history").json()["data"]
    assert "+Do it." in served.get(f"/v1/skills/tidying/diff/{change['commit'][:8]}").json()["diff"]

    undone = served.post("/v1/skills/tidying/undo", commit=change["commit"])

    assert undone.status_code == 200, undone.text
    assert served.get("/v1/skills/tidying").status_code == 404


def test_a_change_of_another_skill_is_not_undone_by_mistake(served):
    learn(served)
    learn(served, "sweeping", "Use the broom.")
    (change,) = served.get("/v1/skills/sweeping/history").json()["data"]

    answer = served.post("/v1/skills/tidying/undo", commit=change["commit"])

    assert answer.status_code == 404
    assert served.get("/v1/skills/sweeping").status_code == 200


def test_a_staged_change_is_approved_or_rejected(served):
    served.close()
    (served.home / "config.yaml").write_text("skills: {write_approval: all}\n")
    served.open()
    staged = [
        served.parts.library.manage(
            Wish("create", name, content=SKILL.format(name, body)), Cause(Actor.ASSISTANT, "because")
        )
        for name, body in (("one-way", "First, look around."), ("other-matter", "Never hurry."))
    ]
    waiting = served.get("/v1/inbox").json()["data"]
    assert [(item["kind"], item["name"], item["why"]) for item in waiting] == [
        ("skill", "one-way", "because"),
        ("skill", "other-matter", "because"),
    ]

    yes = served.post(f"/v1/inbox/{staged[0].id}", decision="approve")
    no = served.post(f"/v1/inbox/{staged[1].id}", decision="reject", reason="not mine")

    assert (yes.status_code, no.status_code) == (200, 200), yes.text
    names = [skill["name"] for skill in served.get("/v1/skills").json()["data"]]
    assert "one-way" in names
    assert "other-matter" not in names
    assert served.get("/v1/inbox").json()["data"] == []
    assert served.post(f"/v1/inbox/{staged[0].id}", decision="approve").status_code == 404
