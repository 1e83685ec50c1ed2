"""What is said in the demo: by the person, by the scripted model, and by us between them."""

import json
import re
from collections.abc import Mapping
from typing import Any

from assistant.core.messages import Call, Chunk

Reply = tuple[Chunk, ...]

SKILL = "technical-architecture-diagrams"
FILES = {
    "compose.yaml": """\
services:
  web: {image: shop/web, depends_on: [orders]}
  orders: {image: shop/orders, depends_on: [postgres, queue]}
  payments: {image: shop/payments, depends_on: [queue, redis]}
  postgres: {image: postgres:17}
  redis: {image: redis:8}
  queue: {image: rabbitmq:4}
""",
    "billing.md": """\
# Billing, notes
Takes paid orders from the queue, asks the bank, writes invoices to a Postgres of its own and PDFs to a bucket.
Refunds are done by hand.
""",
}
"""The folder that the person works in."""

BOXES = """\
```
+-----+     +--------+     +----------+
| web | --> | orders | --> | postgres |
+-----+     +--------+     +----------+
                |
                v
            +-------+      +----------+      +-------+
            | queue | <--- | payments | ---> | redis |
            +-------+      +----------+      +-------+
```"""
FLOW = """\
  web --> orders
  orders --> postgres
  orders --> queue
  payments --> queue
  payments --> redis
"""
STORES = """\
  subgraph stores
    postgres
    redis
    queue
  end
"""
LABELLED = """\
  web -- carts --> orders
  orders -- orders --> postgres
  orders -- orders --> queue
  queue -- orders --> payments
  payments -- receipts --> redis
"""
LEFT_OUT = "Left out: logging, backups, the shop's own mail.\n"
SHOP = f"# Architecture\n\n```mermaid\nflowchart LR\n{FLOW}```\n"
BILLING = """\
# Billing

```mermaid
flowchart LR
  queue -- paid orders --> billing
  billing -- charges --> bank
  billing -- invoices --> postgres
  billing -- PDFs --> bucket
  subgraph stores
    queue
    postgres
    bucket
  end
```

Left out: refunds, which are done by hand.
"""

FIRST = (
    "Draw the architecture of this shop; its services are in compose.yaml",
    "Not ASCII boxes: Mermaid, left to right, in a file under docs/",
    "The data stores in one group, at the right end",
    "Arrows say what flows, not how",
    "And one line under it: what the picture leaves out",
)
"""The first conversation, as the person has it."""
SECOND = "Draw how billing works; my notes are in billing.md"

LEARNED = f"""\
---
name: {SKILL}
description: Use when drawing the architecture of a system.
---

# Architecture diagrams

1. Read what names the parts (a compose file, notes) before drawing.
2. Draw in Mermaid, `flowchart LR`, in a file under `docs/`; no ASCII boxes.
3. Put the data stores into one `subgraph`, at the right end.
4. Arrows say what flows ("paid orders"), not how ("AMQP").
5. Under the picture stands one line: what it leaves out.
"""
INVENTED = "The person always prefers Mermaid"


def says(text: str) -> Reply:
    """Plain text, word by word."""
    return tuple(Chunk(text=piece) for piece in re.findall(r"\S+\s*|\s+", text))


def calls(*wanted: tuple[str, Mapping[str, Any]]) -> Reply:
    """Tool calls, in one reply."""
    return tuple(Chunk(call=Call("", name, json.dumps(arguments))) for name, arguments in wanted)


def patches(old: str, new: str) -> Reply:
    """A change of the shop's picture."""
    return calls(("patch", {"path": "docs/architecture.md", "old_string": old, "new_string": new}))


def creates(*evidence: str) -> Reply:
    """The review's wish: a skill, and the words of the person that it rests on."""
    wish = {"action": "create", "name": SKILL, "category": "work", "content": LEARNED, "evidence": evidence}
    return calls(("skill_manage", wish))


def script() -> tuple[Reply, ...]:
    """Every reply of the scripted model, in order: five turns of two steps, the review, the second conversation."""
    return (
        calls(("read_file", {"path": "compose.yaml"})),
        says(f"Six services; here they are:\n\n{BOXES}"),
        calls(("write_file", {"path": "docs/architecture.md", "content": SHOP})),
        says("It is in `docs/architecture.md` now, as Mermaid, left to right."),
        patches(FLOW, FLOW + STORES),
        says("The three stores stand in one group at the right."),
        patches(FLOW, LABELLED),
        says("Each arrow now says what flows along it; that also turned the one between queue and payments round."),
        patches(f"{STORES}```\n", f"{STORES}```\n\n{LEFT_OUT}"),
        says("Done: one line under the picture names what it leaves out."),
        calls(("skills_list", {"query": "architecture diagram"})),
        creates(INVENTED),
        creates(*FIRST[1:]),
        says("Saved one skill: how this person wants architecture drawn."),
        calls(("skill_view", {"name": SKILL}), ("read_file", {"path": "billing.md"})),
        calls(("write_file", {"path": "docs/billing.md", "content": BILLING})),
        says(
            "It is in `docs/billing.md`: Mermaid, left to right, the stores in one group, arrows that say what flows, "
            "and a line for what is left out."
        ),
    )
