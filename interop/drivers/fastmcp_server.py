"""A server of FastMCP, with the fixtures, for our client to talk to.

    python fastmcp_server.py (--stdio | --http)

Over HTTP it prints its URL first. It stops at the end of its input.
"""

import base64
import json
import re
import socket
import sys
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path

import anyio
import mcp_types as types
import uvicorn
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message, Prompt, PromptArgument, PromptResult
from fastmcp.resources import BinaryResource, TextResource
from fastmcp.server.dependencies import get_context
from fastmcp.server.event_store import EventStore
from fastmcp.tools import Tool, ToolResult
from pydantic import TypeAdapter

FIXTURES = json.loads((Path(__file__).parent / "fixtures.json").read_text())
BLOCK = TypeAdapter(types.ContentBlock)
AWAY_SECONDS = 0.1
SLOW_SECONDS = 30
RETRY_MILLISECONDS = 50


@dataclass
class Memory:
    """What the fixtures remember. A server is started for one session; FastMCP has other objects for each request."""

    cancelled: int = 0
    dynamic: bool = False


MEMORY = Memory()


class Fixture(Tool):
    """A tool of the fixtures: it says what stands there, asks what stands there, or does what is below."""

    async def run(self, arguments: dict) -> ToolResult:
        fixture = next((one for one in FIXTURES["tools"] if one["tool"]["name"] == self.name), {})
        if says := fixture.get("says"):
            blocks = [BLOCK.validate_python(block) for block in says["content"]]
            if says.get("isError"):
                raise ToolError(blocks[0].text)
            return ToolResult(content=blocks, structured_content=says.get("structuredContent"))
        context = get_context()
        if asks := fixture.get("asks"):
            text = await elicit(asks, arguments, context)
        else:
            text = await BEHAVIOURS[self.name](arguments, context)
        return ToolResult(content=[types.TextContent(type="text", text=text)])


async def elicit(schema: dict, given: dict, context) -> str:
    message = given.get("message", "Please answer")
    # FastMCP makes schemas of types; this one is given.
    answer = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
    return f"The user chose to {answer.action}: {json.dumps(answer.content)}"


async def test_tool_with_logging(_given, context) -> str:
    # Whether the client wants them is for FastMCP to know.
    for message in ["begun", "half done", "done"]:
        await context.log(message, level="info", logger_name="fixtures")
    return "logged three messages"


async def test_tool_with_progress(_given, context) -> str:
    for progress in [0, 50, 100]:
        await context.report_progress(progress, 100)
    return "reported three times"


async def test_reconnection(_given, context) -> str:
    await context.close_sse_stream()
    await anyio.sleep(AWAY_SECONDS)
    return "The client is back."


async def test_slow(_given, _context) -> str:
    try:
        await anyio.sleep(SLOW_SECONDS)
    except anyio.get_cancelled_exc_class():
        MEMORY.cancelled += 1
        raise
    return "nobody cancelled"


async def test_cancelled(_given, _context) -> str:
    return str(MEMORY.cancelled)


async def test_sampling(given, context) -> str:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=given["prompt"]))
    answer = await context.session.create_message(
        [message], max_tokens=100, related_request_id=context.request_id
    )
    return f"The model said: {answer.content.text}"


async def test_roots(_given, context) -> str:
    return json.dumps([str(root.uri) for root in (await context.session.list_roots()).roots])


async def test_list_changed(_given, context) -> str:
    MEMORY.dynamic = not MEMORY.dynamic
    if MEMORY.dynamic:
        context.fastmcp.add_tool(Fixture(name="test_dynamic", parameters=FIXTURES["dynamicTool"]["inputSchema"]))
    else:
        context.fastmcp.local_provider.remove_tool("test_dynamic")
    await context.send_notification(types.ToolListChangedNotification())
    return "added test_dynamic" if MEMORY.dynamic else "removed test_dynamic"


BEHAVIOURS = {
    behaviour.__name__: behaviour
    for behaviour in [
        test_tool_with_logging,
        test_tool_with_progress,
        test_reconnection,
        test_slow,
        test_cancelled,
        test_sampling,
        test_roots,
        test_list_changed,
    ]
}


class FixturePrompt(Prompt):
    async def render(self, arguments: dict | None = None) -> PromptResult:
        fixture = next(one for one in FIXTURES["prompts"] if one["prompt"]["name"] == self.name)
        messages = fill(fixture["messages"], arguments or {})
        return PromptResult([Message(BLOCK.validate_python(each["content"]), role=each["role"]) for each in messages])


def fill(value, given: dict):
    """Puts the values of a prompt's arguments where its messages name them in braces."""
    if isinstance(value, dict):
        return {key: fill(member, given) for key, member in value.items()}
    if isinstance(value, list):
        return [fill(member, given) for member in value]
    return re.sub(r"\{(\w+)\}", lambda match: given.get(match[1], match[0]), value)


def build_server() -> FastMCP:
    server = FastMCP("fastmcp-driver", version="1.0.0", dereference_schemas=False)
    for fixture in FIXTURES["tools"]:
        tool = fixture["tool"]
        if tool["name"] in BEHAVIOURS or "says" in fixture or "asks" in fixture:
            server.add_tool(
                Fixture(
                    name=tool["name"],
                    description=tool["description"],
                    parameters=tool["inputSchema"],
                    output_schema=tool.get("outputSchema"),
                )
            )
    contents = {content["uri"]: content for content in FIXTURES["contents"]}
    for resource in FIXTURES["resources"]:
        content = contents[resource["uri"]]
        described = {"uri": resource["uri"], "name": resource["name"], "mime_type": resource["mimeType"]}
        if "text" in content:
            server.add_resource(TextResource(text=content["text"], **described))
        else:
            server.add_resource(BinaryResource(data=base64.b64decode(content["blob"]), **described))

    @server.resource(FIXTURES["template"]["uriTemplate"], mime_type=FIXTURES["template"]["mimeType"])
    def template(id: str) -> str:
        return json.dumps({"id": id})

    for fixture in FIXTURES["prompts"]:
        prompt = fixture["prompt"]
        arguments = [PromptArgument(**argument) for argument in prompt.get("arguments", [])]
        server.add_prompt(
            FixturePrompt(name=prompt["name"], description=prompt["description"], arguments=arguments)
        )

    @server.completion
    def complete(_ref, argument, _context):
        candidates = FIXTURES["completions"].get(argument.name, [])
        return [candidate for candidate in candidates if candidate.startswith(argument.value)]

    return server


async def serve_http() -> None:
    app = build_server().http_app(path="/mcp", event_store=EventStore(), retry_interval=RETRY_MILLISECONDS)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # Whoever reads the URL may connect at once.
    listener.listen()
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    threading.Thread(target=stop_at_end_of_input, args=[server], daemon=True).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await server.serve(sockets=[listener])


def stop_at_end_of_input(server: uvicorn.Server) -> None:
    sys.stdin.read()
    server.should_exit = True


if __name__ == "__main__":
    # A later revision deprecates what this one has.
    warnings.simplefilter("ignore")
    match sys.argv[1:]:
        case ["--stdio"]:
            build_server().run("stdio", show_banner=False)
        case ["--http"]:
            anyio.run(serve_http)
        case _:
            sys.exit("usage: fastmcp_server.py (--stdio | --http)")
