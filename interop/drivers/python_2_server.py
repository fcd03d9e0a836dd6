"""A server of the Python SDK 2.x, with the fixtures, for our client to talk to.

    python python_2_server.py (--stdio | --http)

Over HTTP it prints its URL first. It stops at the end of its input.
"""

import json
import re
import socket
import sys
import threading
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter

FIXTURES = json.loads((Path(__file__).parent / "fixtures.json").read_text())
STATELESS_REVISION = "2026-07-28"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
SLOW_SECONDS = 30
REQUEST = TypeAdapter(types.InputRequest)


@dataclass
class Memory:
    """What the fixtures remember. A server is started for one client."""

    level: int = 0
    cancelled: int = 0
    dynamic: bool = False
    subscribed: set[str] = field(default_factory=set)
    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)


MEMORY = Memory()


class InputRequired(Exception):
    """Raised where the answers to some questions are needed and don't come with the request."""

    def __init__(self, requests: dict, state: str | None) -> None:
        super().__init__("input is required")
        asked = {name: REQUEST.validate_python(request) for name, request in requests.items()}
        self.result = types.InputRequiredResult(input_requests=asked, request_state=state)


class Call:
    """A call of a tool, and how it reaches the client: by requests of its own, or by a result that asks."""

    def __init__(self, context, params: types.CallToolRequestParams) -> None:
        self.session = context.session
        self.id = context.request_id
        self.is_stateless = context.protocol_version >= STATELESS_REVISION
        self.given = params.arguments or {}
        self.answers = params.input_responses or {}
        self.state = params.request_state

    def ask_all(self, requests: dict, state: str | None = None) -> dict:
        if not requests.keys() <= self.answers.keys():
            raise InputRequired(requests, state)
        return self.answers

    async def elicit(self, message: str, schema: dict):
        if self.is_stateless:
            return self.ask_all({"answer": form(message, schema)})["answer"]
        return await self.session.elicit_form(message, schema, related_request_id=self.id)

    async def sample(self, messages: list[dict], most: int):
        params = {"messages": messages, "maxTokens": most}
        if self.is_stateless:
            return self.ask_all({"answer": {"method": "sampling/createMessage", "params": params}})["answer"]
        asked = [types.SamplingMessage.model_validate(message) for message in messages]
        return await self.session.create_message(asked, max_tokens=most, related_request_id=self.id)

    async def roots(self):
        if self.is_stateless:
            return self.ask_all({"answer": {"method": "roots/list"}})["answer"]
        return await self.session.list_roots()


def form(message: str, schema: dict) -> dict:
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def question(message: str, name: str) -> dict:
    """A form with one field."""
    return form(message, {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})


def says(text: str) -> list[dict]:
    return [{"role": "user", "content": {"type": "text", "text": text}}]


async def test_tool_with_logging(call: Call) -> str:
    # Without a session, whether the client wants them is for the SDK to know.
    if not call.is_stateless and MEMORY.level > LEVELS.index("info"):
        return "logged nothing"
    for data in ["begun", "half done", "done"]:
        await call.session.send_log_message("info", data, "fixtures", related_request_id=call.id)
    return "logged three messages"


async def test_tool_with_progress(call: Call) -> str:
    for progress in [0, 50, 100]:
        await call.session.report_progress(progress, 100)
    return "reported three times"


async def test_slow(_call: Call) -> str:
    try:
        await anyio.sleep(SLOW_SECONDS)
    except anyio.get_cancelled_exc_class():
        MEMORY.cancelled += 1
        raise
    return "nobody cancelled"


async def test_cancelled(_call: Call) -> str:
    return str(MEMORY.cancelled)


async def test_sampling(call: Call) -> str:
    answer = await call.sample(says(call.given["prompt"]), 100)
    return f"The model said: {answer.content.text}"


async def test_roots(call: Call) -> str:
    return json.dumps([str(root.uri) for root in (await call.roots()).roots])


async def test_touch_resource(call: Call) -> str:
    uri = call.given["uri"]
    if call.is_stateless:
        await MEMORY.bus.publish(ResourceUpdated(uri=uri))
    elif uri in MEMORY.subscribed:
        await call.session.send_resource_updated(uri)
    return f"touched {uri}"


async def test_list_changed(call: Call) -> str:
    MEMORY.dynamic = not MEMORY.dynamic
    if call.is_stateless:
        await MEMORY.bus.publish(ToolsListChanged())
    else:
        await call.session.send_tool_list_changed()
    return "added test_dynamic" if MEMORY.dynamic else "removed test_dynamic"


async def test_input_required_result_multiple_inputs(call: Call) -> str:
    greeting = {"method": "sampling/createMessage", "params": {"messages": says("Greet"), "maxTokens": 50}}
    name = question("What is your name?", "name")
    answers = call.ask_all({"user_name": name, "greeting": greeting, "client_roots": {"method": "roots/list"}})
    roots = ",".join(str(root.uri) for root in answers["client_roots"].roots)
    return f"{answers['greeting'].content.text} {answers['user_name'].content['name']} {roots}"


async def test_input_required_result_multi_round(call: Call) -> str:
    name = call.state
    if name is None:
        name = call.ask_all({"step1": question("What is your name?", "name")})["step1"].content["name"]
    color = call.ask_all({"step2": question("What is your favorite color?", "color")}, name)["step2"].content["color"]
    return f"{name} likes {color}"


BEHAVIOURS = {
    behaviour.__name__: behaviour
    for behaviour in [
        test_tool_with_logging,
        test_tool_with_progress,
        test_slow,
        test_cancelled,
        test_sampling,
        test_roots,
        test_touch_resource,
        test_list_changed,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
    ]
}


def tools_of(revision: str) -> list[dict]:
    fixtures = [fixture for fixture in FIXTURES["tools"] if fixture.get("since", "") <= revision]
    known = [each for each in fixtures if each["tool"]["name"] in BEHAVIOURS or "says" in each or "asks" in each]
    return known + ([{"tool": FIXTURES["dynamicTool"]}] if MEMORY.dynamic else [])


async def list_tools(context, _params) -> types.ListToolsResult:
    tools = [fixture["tool"] for fixture in tools_of(context.protocol_version)]
    return types.ListToolsResult.model_validate({"tools": tools})


async def call_tool(context, params: types.CallToolRequestParams):
    fixture = next((one for one in tools_of(context.protocol_version) if one["tool"]["name"] == params.name), None)
    if fixture is None:
        raise MCPError(INVALID_PARAMS, f"no tool is called {params.name}")
    if "says" in fixture:
        return types.CallToolResult.model_validate(fixture["says"])
    call = Call(context, params)
    try:
        if "asks" in fixture:
            answer = await call.elicit(call.given.get("message", "Please answer"), fixture["asks"])
            text = f"The user chose to {answer.action}: {json.dumps(answer.content)}"
        else:
            text = await BEHAVIOURS[params.name](call)
    except InputRequired as asks:
        return asks.result
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def list_resources(_context, _params) -> types.ListResourcesResult:
    return types.ListResourcesResult.model_validate({"resources": FIXTURES["resources"]})


async def list_templates(_context, _params) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": [FIXTURES["template"]]})


async def read_resource(context, params) -> types.ReadResourceResult:
    uri = str(params.uri)
    if found := re.fullmatch(r"test://template/([^/]+)/data", uri):
        text = json.dumps({"id": found[1]})
        contents = [{"uri": uri, "mimeType": FIXTURES["template"]["mimeType"], "text": text}]
    else:
        contents = [content for content in FIXTURES["contents"] if content["uri"] == uri]
    if not contents:
        code = INVALID_PARAMS if context.protocol_version >= STATELESS_REVISION else RESOURCE_NOT_FOUND
        raise MCPError(code, "no such resource", {"uri": uri})
    return types.ReadResourceResult.model_validate({"contents": contents})


async def subscribe(_context, params) -> types.EmptyResult:
    MEMORY.subscribed.add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(_context, params) -> types.EmptyResult:
    MEMORY.subscribed.discard(str(params.uri))
    return types.EmptyResult()


async def list_prompts(_context, _params) -> types.ListPromptsResult:
    return types.ListPromptsResult.model_validate({"prompts": [each["prompt"] for each in FIXTURES["prompts"]]})


async def get_prompt(_context, params) -> types.GetPromptResult:
    fixture = next((one for one in FIXTURES["prompts"] if one["prompt"]["name"] == params.name), None)
    if fixture is None:
        raise MCPError(INVALID_PARAMS, f"no prompt is called {params.name}")
    return types.GetPromptResult.model_validate({"messages": fill(fixture["messages"], params.arguments or {})})


def fill(value, given: dict):
    """Puts the values of a prompt's arguments where its messages name them in braces."""
    if isinstance(value, dict):
        return {key: fill(member, given) for key, member in value.items()}
    if isinstance(value, list):
        return [fill(member, given) for member in value]
    return re.sub(r"\{(\w+)\}", lambda match: given.get(match[1], match[0]), value) if isinstance(value, str) else value


async def complete(_context, params) -> types.CompleteResult:
    candidates = FIXTURES["completions"].get(params.argument.name, [])
    values = [candidate for candidate in candidates if candidate.startswith(params.argument.value)]
    return types.CompleteResult.model_validate({"completion": {"values": values, "total": len(values), "hasMore": False}})


async def set_level(_context, params) -> types.EmptyResult:
    MEMORY.level = LEVELS.index(params.level)
    return types.EmptyResult()


class FixtureServer(Server):
    def create_initialization_options(self, *_given, **_others):
        """The SDK declares no changes of lists unless it is told, which it can't be over HTTP."""
        return super().create_initialization_options(NotificationOptions(tools_changed=True))


def build_server() -> Server:
    return FixtureServer(
        "python-driver",
        version="1.0.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=ListenHandler(MEMORY.bus),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=set_level,
    )


async def serve_stdio() -> None:
    server = build_server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # Whoever reads the URL may connect at once.
    listener.listen()
    config = uvicorn.Config(build_server().streamable_http_app(), log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    threading.Thread(target=stop_at_end_of_input, args=[server], daemon=True).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await server.serve(sockets=[listener])


def stop_at_end_of_input(server: uvicorn.Server) -> None:
    sys.stdin.read()
    server.should_exit = True


if __name__ == "__main__":
    # A later revision deprecates what an earlier one has.
    warnings.simplefilter("ignore")
    match sys.argv[1:]:
        case ["--stdio"]:
            anyio.run(serve_stdio)
        case ["--http"]:
            anyio.run(serve_http)
        case _:
            sys.exit("usage: python_2_server.py (--stdio | --http)")
