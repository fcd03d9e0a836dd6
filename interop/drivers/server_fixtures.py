"""A server with the fixtures, written against what the Python SDKs of all eras have: handlers by type of request."""

import asyncio
import inspect
import json
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

import anyio
import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import McpError

FIXTURES = json.loads((Path(__file__).parent / "fixtures.json").read_text())
REVISION = types.LATEST_PROTOCOL_VERSION
TOOLS = {
    fixture["tool"]["name"]: fixture for fixture in FIXTURES["tools"] if fixture.get("since", REVISION) <= REVISION
}
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
RESOURCE_NOT_FOUND = -32002
AWAY_SECONDS = 0.1
SLOW_SECONDS = 30


@dataclass
class Session:
    """What the fixtures remember of a session."""

    level: str = LEVELS[0]
    cancelled: int = 0
    dynamic: bool = False
    subscribed: set[str] = field(default_factory=set)
    asking: asyncio.Task | None = None


class FixtureServer(Server):
    """The SDK's server, saying that it does what its own derivation of capabilities leaves out."""

    def __init__(self) -> None:
        super().__init__("python-driver", "1.0.0")
        self.sessions: WeakKeyDictionary = WeakKeyDictionary()
        for request, (result, handle) in HANDLERS.items():
            self.request_handlers[request] = self._handler(result, handle)

    def get_capabilities(self, _options, experimental):
        capabilities = super().get_capabilities(NotificationOptions(tools_changed=True), experimental)
        capabilities.resources.subscribe = True
        # One SDK completes without having a type for saying so.
        if REVISION >= "2025-03-26" and getattr(capabilities, "completions", None) is None:
            capabilities.completions = {}
        return capabilities

    async def run(self, *streams, **options):
        # One SDK lets the end of a session over HTTP take the other sessions with it.
        try:
            await super().run(*streams, **options)
        except* anyio.ClosedResourceError:
            pass

    async def _handle_message(self, message, *rest):
        # The first SDKs let a cancelled call take the whole session with it.
        try:
            await super()._handle_message(message, *rest)
        except anyio.get_cancelled_exc_class():
            if not getattr(message, "cancelled", False):
                raise

    def _handler(self, result, handle):
        async def answer(request):
            params = request.params.model_dump(by_alias=True, mode="json", exclude_none=True) if request.params else {}
            return types.ServerResult(result.model_validate(await handle(params, Call(self, params))))

        return answer


class Call:
    """A request being answered: its session, and what the server can send and ask meanwhile."""

    def __init__(self, server: FixtureServer, params: dict) -> None:
        context = server.request_context
        self.peer = context.session
        self.request_id = context.request_id
        self.end_stream = getattr(context, "close_sse_stream", None)
        self.params = params
        self.given = params.get("arguments") or {}
        self.session: Session = server.sessions.setdefault(self.peer, Session())

    async def tell(self, method: str, params: dict | None = None, related: bool = True) -> None:
        """Sends a notification; over HTTP on the call's own stream when `related`, where the SDK knows how."""
        notification = types.ServerNotification.model_validate({"method": method, "params": params})
        knows = related and "related_request_id" in inspect.signature(self.peer.send_notification).parameters
        await self.peer.send_notification(notification, **({"related_request_id": self.request_id} if knows else {}))

    async def ask(self, method: str, params: dict | None, result):
        """Sends a request to the client, over HTTP on the call's own stream where the SDK knows how."""
        request = types.ServerRequest.model_validate({"method": method, "params": params})
        if "metadata" not in inspect.signature(self.peer.send_request).parameters:
            return await self.peer.send_request(request, result)
        from mcp.shared.message import ServerMessageMetadata

        related = ServerMessageMetadata(related_request_id=self.request_id)
        return await self.peer.send_request(request, result, metadata=related)


async def ask_during_list(call: Call) -> None:
    """Asks for roots as servers do that learn of a client by its first list. Nothing waits for the answer."""
    try:
        await call.ask("roots/list", None, types.ListRootsResult)
    except Exception as error:
        print(f"the early question has no answer: {error}", file=sys.stderr)


async def list_tools(_params, call: Call):
    if os.environ.get("MCP_ASKS_EARLY"):
        # The session keeps it, so that it isn't collected meanwhile.
        call.session.asking = asyncio.create_task(ask_during_list(call))
    dynamic = [FIXTURES["dynamicTool"]] if call.session.dynamic else []
    return {"tools": [fixture["tool"] for fixture in TOOLS.values()] + dynamic}


async def call_tool(params, call: Call):
    fixture = TOOLS.get(params["name"])
    if fixture is None:
        raise fault(types.INVALID_PARAMS, f"no tool is called {params['name']}")
    if "says" in fixture:
        return fixture["says"]
    text = await elicit(fixture["asks"], call) if "asks" in fixture else await BEHAVIOURS[params["name"]](call)
    return {"content": [{"type": "text", "text": text}]}


async def test_tool_with_logging(call: Call) -> str:
    if LEVELS.index(call.session.level) > LEVELS.index("info"):
        return "logged nothing"
    for data in ["begun", "half done", "done"]:
        await call.tell("notifications/message", {"level": "info", "logger": "fixtures", "data": data})
    return "logged three messages"


async def test_tool_with_progress(call: Call) -> str:
    token = call.params.get("_meta", {}).get("progressToken")
    if token is None:
        return "nobody wanted to know"
    for progress in [0, 50, 100]:
        await call.tell("notifications/progress", {"progressToken": token, "progress": progress, "total": 100})
    return "reported three times"


async def test_reconnection(call: Call) -> str:
    if call.end_stream:
        await call.end_stream()
    await anyio.sleep(AWAY_SECONDS)
    return "The client is back."


async def test_slow(call: Call) -> str:
    try:
        await anyio.sleep(SLOW_SECONDS)
    except anyio.get_cancelled_exc_class():
        call.session.cancelled += 1
        raise
    return "nobody cancelled"


async def test_cancelled(call: Call) -> str:
    return str(call.session.cancelled)


async def test_sampling(call: Call) -> str:
    messages = [{"role": "user", "content": {"type": "text", "text": call.given["prompt"]}}]
    params = {"messages": messages, "maxTokens": 100}
    answer = await call.ask("sampling/createMessage", params, types.CreateMessageResult)
    return f"The model said: {answer.content.text}"


async def test_roots(call: Call) -> str:
    answer = await call.ask("roots/list", None, types.ListRootsResult)
    return json.dumps([str(root.uri) for root in answer.roots])


async def test_touch_resource(call: Call) -> str:
    uri = call.given["uri"]
    if uri in call.session.subscribed:
        await call.tell("notifications/resources/updated", {"uri": uri}, related=False)
    return f"touched {uri}"


async def test_list_changed(call: Call) -> str:
    call.session.dynamic = not call.session.dynamic
    await call.tell("notifications/tools/list_changed", related=False)
    return "added test_dynamic" if call.session.dynamic else "removed test_dynamic"


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
        test_touch_resource,
        test_list_changed,
    ]
}


async def elicit(schema: dict, call: Call) -> str:
    params = {"message": call.given.get("message", "Please answer"), "requestedSchema": schema}
    answer = await call.ask("elicitation/create", params, types.ElicitResult)
    return f"The user chose to {answer.action}: {json.dumps(answer.content)}"


async def list_resources(_params, _call):
    return {"resources": FIXTURES["resources"]}


async def read_resource(params, _call):
    uri = params["uri"]
    if match := re.fullmatch(r"test://template/([^/]+)/data", uri):
        text = json.dumps({"id": match[1]})
        return {"contents": [{"uri": uri, "mimeType": FIXTURES["template"]["mimeType"], "text": text}]}
    contents = [content for content in FIXTURES["contents"] if content["uri"] == uri]
    if not contents:
        raise fault(RESOURCE_NOT_FOUND, "no such resource", {"uri": uri})
    return {"contents": contents}


async def list_templates(_params, _call):
    return {"resourceTemplates": [FIXTURES["template"]]}


async def subscribe(params, call: Call):
    call.session.subscribed.add(params["uri"])
    return {}


async def unsubscribe(params, call: Call):
    call.session.subscribed.discard(params["uri"])
    return {}


async def list_prompts(_params, _call):
    return {"prompts": [fixture["prompt"] for fixture in FIXTURES["prompts"]]}


async def get_prompt(params, call: Call):
    fixture = next((one for one in FIXTURES["prompts"] if one["prompt"]["name"] == params["name"]), None)
    if fixture is None:
        raise fault(types.INVALID_PARAMS, f"no prompt is called {params['name']}")
    expected = [argument["name"] for argument in fixture["prompt"].get("arguments", [])]
    if missing := [name for name in expected if name not in call.given]:
        raise fault(types.INVALID_PARAMS, f"missing: {', '.join(missing)}")
    return {"messages": fill(fixture["messages"], call.given)}


def fill(value, given: dict):
    """Puts the values of a prompt's arguments where its messages name them in braces."""
    if isinstance(value, dict):
        return {key: fill(member, given) for key, member in value.items()}
    if isinstance(value, list):
        return [fill(member, given) for member in value]
    return re.sub(r"\{(\w+)\}", lambda match: given.get(match[1], match[0]), value)


async def complete(params, _call):
    argument = params["argument"]
    candidates = FIXTURES["completions"].get(argument["name"], [])
    values = [candidate for candidate in candidates if candidate.startswith(argument["value"])]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


async def set_level(params, call: Call):
    call.session.level = params["level"]
    return {}


def fault(code: int, message: str, data=None) -> McpError:
    return McpError(types.ErrorData(code=code, message=message, data=data))


HANDLERS = {
    types.ListToolsRequest: (types.ListToolsResult, list_tools),
    types.CallToolRequest: (types.CallToolResult, call_tool),
    types.ListResourcesRequest: (types.ListResourcesResult, list_resources),
    types.ReadResourceRequest: (types.ReadResourceResult, read_resource),
    types.ListResourceTemplatesRequest: (types.ListResourceTemplatesResult, list_templates),
    types.SubscribeRequest: (types.EmptyResult, subscribe),
    types.UnsubscribeRequest: (types.EmptyResult, unsubscribe),
    types.ListPromptsRequest: (types.ListPromptsResult, list_prompts),
    types.GetPromptRequest: (types.GetPromptResult, get_prompt),
    types.CompleteRequest: (types.CompleteResult, complete),
    types.SetLevelRequest: (types.EmptyResult, set_level),
}
