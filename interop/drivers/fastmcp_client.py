"""A client of FastMCP that goes through everything with a server that has the fixtures.

    python fastmcp_client.py (--stdio COMMAND ARGUMENT… | --http URL)

It prints a line of JSON for each step, and exits with 0 if none failed.
"""

import sys
import warnings
from contextlib import asynccontextmanager

import anyio
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError

from python_2_steps import STEP_SECONDS, Failed, Memory, run


class Peer(Memory):
    """A client that begins with a handshake."""

    def __init__(self, transport) -> None:
        super().__init__()
        self.client = Client(
            transport,
            roots=lambda _context: self.roots,
            sampling_handler=self._answer_sampling,
            elicitation_handler=self._answer_elicitation,
            log_handler=self._hear,
            message_handler=self.remember,
            timeout=STEP_SECONDS,
            mode="legacy",
        )

    async def call_for_text(self, name: str, given: dict | None = None, **options) -> str:
        try:
            result = await self.client.call_tool(name, given or {}, **options)
        except ToolError as error:
            raise Failed(str(error)) from error
        return "\n".join(getattr(block, "text", "") for block in result.content)

    async def want_logs(self, level: str) -> None:
        await self.client.set_logging_level(level)

    @asynccontextmanager
    async def watching_resource(self, uri: str):
        # FastMCP has no word for this; the SDK below it has.
        await self.client.session.subscribe_resource(uri)
        yield
        await self.client.session.unsubscribe_resource(uri)

    @asynccontextmanager
    async def watching_tools(self):
        yield

    async def _hear(self, _message) -> None:
        """Log messages are remembered with all others."""

    async def _answer_sampling(self, messages, _params, _context) -> str:
        return f"heard: {messages[-1].content.text}"

    async def _answer_elicitation(self, _message, _type, params, _context):
        return ElicitResult(action="accept", content=self.answer_form(params.requested_schema))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ["--stdio", "--http"]:
        sys.exit("usage: fastmcp_client.py (--stdio COMMAND ARGUMENT… | --http URL)")
    # A later revision deprecates what this one has.
    warnings.simplefilter("ignore")
    transport, target, *parameters = sys.argv[1:]
    opened = StdioTransport(target, parameters) if transport == "--stdio" else StreamableHttpTransport(target)
    sys.exit(0 if anyio.run(run, Peer(opened)) else 1)
