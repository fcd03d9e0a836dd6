"""A client of the Python SDK 2.x that goes through everything with a server that has the fixtures.

    python python_2_client.py (--stdio COMMAND ARGUMENT… | --http URL)

It prints a line of JSON for each step, and exits with 0 if none failed. The environment variable MCP_MODE says how it begins.
"""

import os
import sys
import warnings
from contextlib import asynccontextmanager

import anyio
import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from python_2_steps import SILENCE_SECONDS, STATELESS, STEP_SECONDS, Failed, Memory, run

LOG_LEVEL = "io.modelcontextprotocol/logLevel"
MODES = {"auto": "auto", "stateless": "2026-07-28", "handshake": "legacy"}


class Shaped:
    """The SDK's client with FastMCP's methods: whole lists, and contents without what is around them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.meta: dict | None = None

    def __getattr__(self, name: str):
        return getattr(self._client, name)

    async def __aenter__(self):
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *reason) -> None:
        await self._client.__aexit__(*reason)

    async def ping(self) -> bool:
        return await self._client.send_ping() is not None

    async def call_tool(self, name: str, given: dict, progress_handler=None):
        return await self._client.call_tool(name, given, progress_callback=progress_handler, meta=self.meta)

    async def list_tools(self) -> list[types.Tool]:
        return await self._all(self._client.list_tools, "tools")

    async def list_prompts(self) -> list[types.Prompt]:
        return await self._all(self._client.list_prompts, "prompts")

    async def list_resources(self) -> list[types.Resource]:
        return await self._all(self._client.list_resources, "resources")

    async def list_resource_templates(self) -> list[types.ResourceTemplate]:
        return await self._all(self._client.list_resource_templates, "resource_templates")

    async def read_resource(self, uri: str):
        return (await self._client.read_resource(uri)).contents

    async def complete(self, ref, argument: dict):
        return (await self._client.complete(ref, argument)).completion

    async def _all(self, list_page, member: str) -> list:
        found, cursor = [], None
        while True:
            page = await list_page(cursor=cursor)
            found += getattr(page, member)
            cursor = page.next_cursor
            if cursor is None:
                return found


class Peer(Memory):
    def __init__(self, target) -> None:
        super().__init__()
        self.client = Shaped(
            Client(
                target,
                mode=MODES[os.environ["MCP_MODE"]],
                list_roots_callback=self._list_roots,
                sampling_callback=self._answer_sampling,
                elicitation_callback=self._answer_elicitation,
                message_handler=self.remember,
                read_timeout_seconds=STEP_SECONDS,
            )
        )

    async def call_for_text(self, name: str, given: dict | None = None, **options) -> str:
        result = await self.client.call_tool(name, given or {}, **options)
        text = "\n".join(getattr(block, "text", "") for block in result.content)
        if result.is_error:
            raise Failed(text)
        return text

    async def want_logs(self, level: str) -> None:
        """Wants the log messages of this level and above: from now on, or with each call."""
        if STATELESS:
            self.client.meta = {LOG_LEVEL: level}
        else:
            await self.client.set_logging_level(level)

    @asynccontextmanager
    async def watching_resource(self, uri: str):
        if STATELESS:
            async with self.client.listen(resource_subscriptions=[uri]):
                yield
            # Over stdio the cancellation is sent in the background: a call that follows at once may overtake it.
            await anyio.sleep(SILENCE_SECONDS)
            return
        await self.client.subscribe_resource(uri)
        yield
        await self.client.unsubscribe_resource(uri)

    @asynccontextmanager
    async def watching_tools(self):
        if STATELESS:
            async with self.client.listen(tools_list_changed=True):
                yield
        else:
            yield

    async def hints(self) -> list[tuple[int, str]]:
        session = self.client.session
        results = [
            await session.list_tools(),
            await session.list_prompts(),
            await session.list_resources(),
            await session.list_resource_templates(),
            await session.read_resource("test://static-text"),
        ]
        for result in results:
            assert {"ttl_ms", "cache_scope"} <= result.model_fields_set, result
        return [(result.ttl_ms, result.cache_scope) for result in results]

    async def _list_roots(self, _context) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in self.roots])

    async def _answer_sampling(self, _context, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        text = types.TextContent(type="text", text=f"heard: {params.messages[-1].content.text}")
        return types.CreateMessageResult(role="assistant", model="none", stop_reason="endTurn", content=text)

    async def _answer_elicitation(self, _context, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content=self.answer_form(params.requested_schema))


@asynccontextmanager
async def over_http(url: str, user: str):
    """Streamable HTTP on behalf of a user, as behind a proxy that authenticates users."""
    async with (
        httpx2.AsyncClient(headers={"X-Forwarded-User": user}, timeout=None) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ["--stdio", "--http"]:
        sys.exit("usage: python_2_client.py (--stdio COMMAND ARGUMENT… | --http URL)")
    # A later revision deprecates what an earlier one has.
    warnings.simplefilter("ignore")
    transport, target, *parameters = sys.argv[1:]
    user = os.environ.get("MCP_USER")
    if transport == "--stdio":
        opened = StdioServerParameters(command=target, args=parameters)
    else:
        opened = over_http(target, user) if user else target
    sys.exit(0 if anyio.run(run, Peer(opened)) else 1)
