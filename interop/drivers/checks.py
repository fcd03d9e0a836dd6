"""What the steps have in common."""

import base64
import os

import mcp.types as types
from mcp.shared.exceptions import McpError

from peer import REVISION, Absent, Peer

FIXTURES = min(REVISION, os.environ.get("MCP_FIXTURES", REVISION))
"""The revision of the server's fixtures, where that is earlier than the client's."""

SILENCE_SECONDS = 0.25
"""How long a message that must not come is waited for."""


def requires(since: str, what: str) -> None:
    if since > FIXTURES:
        raise Absent(f"{what} came with {since}; this SDK speaks {REVISION}")


def may_call(peer: Peer, name: str, since: str) -> bool:
    """Whether the server has this tool: before `since` it need not, but ours translates what it can."""
    listed = name in peer.tool_names
    assert listed or since > FIXTURES, f"{name} is not listed"
    return listed


async def error_of(call) -> types.ErrorData:
    """The error that a call must end with."""
    try:
        result = await call
    except McpError as error:
        return error.error
    raise AssertionError(f"should have failed, but answered {result}")


def equal(actual, expected) -> None:
    assert actual == expected, f"{actual!r} is not {expected!r}"


def check_png(text: str) -> None:
    equal(base64.b64decode(text)[1:4], b"PNG")
