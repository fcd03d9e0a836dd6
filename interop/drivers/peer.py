"""A client of the Python SDK, connected to a server, that remembers everything the steps judge."""

import inspect
import logging
from contextlib import asynccontextmanager

import anyio
import mcp.types as types
from mcp.client.session import ClientSession
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client

PATIENCE_SECONDS = 5
POLL_SECONDS = 0.02
REVISION = types.LATEST_PROTOCOL_VERSION


class Absent(Exception):
    """Raised by a step that this SDK of this era cannot do."""


@asynccontextmanager
async def open_streams(transport: str, target: str, parameters: list[str]):
    """The streams of messages from and to the server."""
    match transport:
        case "--stdio":
            opened = stdio_client(StdioServerParameters(command=target, args=parameters))
        case "--http":
            opened = streamable_http(target)
        case _:
            opened = sse_client(target)
    async with opened as (read, write, *_):
        yield read, write


def streamable_http(url: str):
    try:
        import mcp.client.streamable_http as module
    except ImportError:
        raise Absent("this SDK has no Streamable HTTP") from None
    return getattr(module, "streamable_http_client", module.__dict__.get("streamablehttp_client"))(url)


class Peer(logging.Handler):
    def __init__(self, read, write) -> None:
        super().__init__(logging.WARNING)
        self.roots = ["file:///project/one"]
        self.tool_names: list[str] = []
        """The names of the server's tools, once they were listed."""
        self.notifications: list[dict] = []
        """The notifications from the server, in order."""
        self.errors: list[str] = []
        """What the SDK found wrong with what it was sent."""
        self.answered: dict = {}
        """The answers to the last elicitation."""
        logging.getLogger().addHandler(self)
        callbacks = {
            "sampling_callback": self._answer_sampling,
            "list_roots_callback": self._answer_roots,
            "elicitation_callback": self._answer_elicitation,
            "message_handler": self._remember,
        }
        known = inspect.signature(ClientSession).parameters
        self.session = ClientSession(read, write, **{name: each for name, each in callbacks.items() if name in known})

    def emit(self, record: logging.LogRecord) -> None:
        """The SDK only logs that a notification was invalid."""
        self.errors.append(record.getMessage())

    async def request(self, method: str, params: dict, result):
        """Sends a request as it is: some types of requests in some eras lack members."""
        return await self.session.send_request(types.Request[dict, str](method=method, params=params), result)

    async def notify(self, method: str, params: dict) -> None:
        notification = types.ClientNotification.model_validate({"method": method, "params": params})
        await self.session.send_notification(notification)

    async def call_for_text(self, name: str, given: dict | None = None) -> str:
        """Calls a tool that must succeed, and answers with the texts of its result."""
        result = await self.session.call_tool(name, given or {})
        text = "\n".join(getattr(block, "text", "") for block in result.content)
        assert not result.isError, f"{name} answered with an error: {text}"
        return text

    async def tools(self) -> list[types.Tool]:
        """The tools on all pages of their list."""
        page = await self.session.list_tools()
        tools = page.tools
        while page.nextCursor is not None:
            page = await self._page_of_tools(page.nextCursor)
            tools += page.tools
        return tools

    async def _page_of_tools(self, cursor: str) -> types.ListToolsResult:
        # The first SDK cannot ask for the next page, later ones must, or they forget the tools' schemas.
        if "cursor" in inspect.signature(self.session.list_tools).parameters:
            return await self.session.list_tools(cursor)
        return await self.request("tools/list", {"cursor": cursor}, types.ListToolsResult)

    def notifications_of(self, method: str) -> list[dict]:
        """The parameters of the notifications of this method so far."""
        return [sent.get("params", {}) for sent in self.notifications if sent["method"] == method]

    async def until(self, what: str, enough) -> None:
        """Waits until `enough()` is true: over HTTP, notifications may come after the answer."""
        with anyio.move_on_after(PATIENCE_SECONDS):
            while not await enough():
                await anyio.sleep(POLL_SECONDS)
            return
        raise AssertionError(f"waited in vain for {what}")

    async def until_notified(self, method: str, times: int = 1) -> None:
        async def enough() -> bool:
            return len(self.notifications_of(method)) >= times

        await self.until(method, enough)

    async def _remember(self, message) -> None:
        if isinstance(message, types.ServerNotification):
            self.notifications.append(message.root.model_dump(by_alias=True, mode="json", exclude_none=True))
        elif isinstance(message, Exception):
            self.errors.append(str(message))

    async def _answer_sampling(self, _context, params):
        content = types.TextContent(type="text", text=f"heard: {params.messages[-1].content.text}")
        return types.CreateMessageResult(role="assistant", model="none", stopReason="endTurn", content=content)

    async def _answer_roots(self, _context):
        return types.ListRootsResult.model_validate({"roots": [{"uri": uri} for uri in self.roots]})

    async def _answer_elicitation(self, _context, params):
        properties = params.requestedSchema["properties"]
        self.answered = {name: answer_question(name, schema) for name, schema in properties.items()}
        return types.ElicitResult(action="accept", content=self.answered)


def answer_question(name: str, schema: dict):
    """An answer that the schema allows and that is not its default."""
    choices = schema.get("enum") or [choice["const"] for choice in schema.get("oneOf", [])]
    if choices:
        return choices[-1]
    match schema["type"]:
        case "boolean":
            return schema.get("default") is False
        case "integer":
            return 7
        case "number":
            return 2.5
        case "array":
            items = schema["items"]
            return (items.get("enum") or [choice["const"] for choice in items["anyOf"]])[-1:]
        case _:
            return "ada@localhost.localdomain" if schema.get("format") == "email" else f"my {name}"
