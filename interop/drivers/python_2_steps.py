"""What a client does with a server that has the fixtures, be it of FastMCP or of the Python SDK 2.x, on which that one stands.

Each step answers with what it saw, or raises. The peer has FastMCP's methods.
"""

import base64
import json
import logging
import os

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

STEP_SECONDS = 8
ALL_SECONDS = 28
PATIENCE_SECONDS = 5
POLL_SECONDS = 0.02
SILENCE_SECONDS = 0.25
HEAD_START_SECONDS = 0.5
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
WATCHED = "test://watched-resource"
FIXTURES = os.environ.get("MCP_FIXTURES", "2026-07-28")
"""The revision of the server's fixtures."""

STATELESS = os.environ.get("MCP_MODE") != "handshake"
"""Whether the server is to be found without a handshake."""


class Absent(Exception):
    """Raised by a step that the revision has not."""


class Failed(Exception):
    """A tool's result says that it is an error."""


class Memory(logging.Handler):
    """Records the notifications from the server, and what the SDK complains of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.roots = ["file:///project/one"]
        self.notifications: list[dict] = []
        self.errors: list[str] = []
        """What the SDK found wrong with what it was sent."""
        self.answered: dict = {}
        # Log messages of the server go to the client's handler; only what the SDK itself logs is an error.
        logging.getLogger("mcp").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.errors.append(record.getMessage())

    def notifications_of(self, method: str) -> list[dict]:
        """The parameters of the notifications of this method so far."""
        return [sent.get("params") or {} for sent in self.notifications if sent["method"] == method]

    async def until(self, what: str, enough) -> None:
        with anyio.move_on_after(PATIENCE_SECONDS):
            while not await enough():
                await anyio.sleep(POLL_SECONDS)
            return
        raise AssertionError(f"waited in vain for {what}")

    async def until_notified(self, method: str, times: int = 1) -> None:
        async def enough() -> bool:
            return len(self.notifications_of(method)) >= times

        await self.until(method, enough)

    async def remember(self, message) -> None:
        if isinstance(message, Exception):
            self.errors.append(str(message))
        elif method := getattr(message, "method", None):
            self.notifications.append({"method": method, "params": as_json(message.params) if message.params else {}})

    def answer_form(self, schema: dict) -> dict:
        self.answered = {name: answer_question(name, field) for name, field in schema["properties"].items()}
        return self.answered


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


async def initialize(peer) -> str:
    server = peer.client.server_info
    name = f"{server.name} {server.version}" if server else "a server without a name"
    return f"negotiated {peer.client.protocol_version} with {name}"


async def ping(peer) -> str:
    if STATELESS:
        raise Absent("the revision has no ping")
    assert await peer.client.ping()
    return "answered"


async def list_tools(peer) -> str:
    listed = await peer.client.list_tools()
    tools = {tool.name: tool for tool in listed}
    equal(len(tools), len(listed))
    for name in ["test_simple_text", "test_tool_with_progress", "json_schema_2020_12_tool"]:
        assert name in tools, f"{name} is not listed"
    assert "test_dynamic" not in tools, "test_dynamic is listed before it was added"
    schema = tools["json_schema_2020_12_tool"].input_schema
    assert "address" in schema["$defs"], "the definitions of a tool's schema are lost"
    equal(schema["additionalProperties"], False)
    if FIXTURES >= "2025-06-18":
        assert "celsius" in tools["test_structured"].output_schema["properties"], "an output schema is lost"
    return f"{len(tools)} tools"


async def call_tools(peer) -> str:
    async def blocks_of(name: str):
        return (await peer.client.call_tool(name, {})).content

    [text] = await blocks_of("test_simple_text")
    assert text.type == "text" and text.text
    [image] = await blocks_of("test_image_content")
    equal(image.mime_type, "image/png")
    check_png(image.data)
    [embedded] = await blocks_of("test_embedded_resource")
    equal(str(embedded.resource.uri), "test://embedded-resource")
    kinds = [block.type for block in await blocks_of("test_multiple_content_types")]
    equal(kinds, ["text", "image", "resource"])
    if FIXTURES >= "2025-03-26":
        [audio] = await blocks_of("test_audio_content")
        equal((audio.type, audio.mime_type), ("audio", "audio/wav"))
        equal(base64.b64decode(audio.data)[:4], b"RIFF")
        kinds.append(audio.type)
    if FIXTURES >= "2025-11-25":
        kinds.append(await peer.call_for_text("test_reconnection"))
    return ", ".join(kinds)


async def call_failing(peer) -> str:
    failed = await failure_of(peer, "test_error_handling")
    unknown = await error_of(peer.client.call_tool("test_no_such_tool", {}))
    equal(unknown.code, INVALID_PARAMS)
    # A model reads what is wrong with its arguments.
    invalid = await failure_of(peer, "test_touch_resource", {"uri": 5})
    assert "uri" in invalid, invalid
    return f"isError: {failed}; unknown tool: {unknown.message}; invalid arguments: {invalid}"


async def failure_of(peer, name: str, given: dict | None = None) -> str:
    """The text of a result that says it is an error."""
    try:
        text = await peer.call_for_text(name, given)
    except Failed as error:
        return str(error)
    raise AssertionError(f"{name} should have failed, but answered {text}")


async def call_structured(peer) -> str:
    if FIXTURES < "2025-06-18":
        raise Absent("structured content came with 2025-06-18")
    result = await peer.client.call_tool("test_structured", {})
    equal(result.structured_content, {"celsius": 21.5, "city": "Bern"})
    return str(result.structured_content)


async def progress(peer) -> str:
    seen = []

    async def hear(done, total, _message) -> None:
        seen.append((done, total))

    await peer.call_for_text("test_tool_with_progress", progress_handler=hear)
    equal(seen, [(0, 100), (50, 100), (100, 100)])
    return ", ".join(f"{done:g} of {total:g}" for done, total in seen)


async def cancel(peer) -> str:
    before = int(await peer.call_for_text("test_cancelled"))

    async def has_been_cancelled() -> bool:
        return int(await peer.call_for_text("test_cancelled")) == before + 1

    # The server must have begun: over HTTP, a cancellation could overtake what it cancels.
    with anyio.move_on_after(HEAD_START_SECONDS):
        await peer.call_for_text("test_slow")
        raise AssertionError("the slow call was answered")
    await peer.until("the slow call's end", has_been_cancelled)
    await anyio.sleep(SILENCE_SECONDS)
    return "cancelled by leaving the call"


async def list_resources(peer) -> str:
    uris = [str(resource.uri) for resource in await peer.client.list_resources()]
    for uri in ["test://static-text", "test://static-binary", WATCHED]:
        assert uri in uris, f"no {uri}"
    return ", ".join(uris)


async def read_resources(peer) -> str:
    [text] = await peer.client.read_resource("test://static-text")
    equal(text.mime_type, "text/plain")
    assert text.text
    [binary] = await peer.client.read_resource("test://static-binary")
    equal(binary.mime_type, "image/png")
    check_png(binary.blob)
    missing = "test://no-such-resource"
    unknown = await error_of(peer.client.read_resource(missing))
    equal((unknown.code, unknown.data), (INVALID_PARAMS if STATELESS else RESOURCE_NOT_FOUND, {"uri": missing}))
    return f"{text.text}; unknown resource: {unknown.message}"


async def use_template(peer) -> str:
    templates = [template.uri_template for template in await peer.client.list_resource_templates()]
    assert "test://template/{id}/data" in templates, f"only {templates}"
    [read] = await peer.client.read_resource("test://template/4711/data")
    assert "4711" in read.text, read.text
    return read.text


async def subscribe(peer) -> str:
    method = "notifications/resources/updated"
    peer.notifications.clear()
    async with peer.watching_resource(WATCHED):
        await peer.call_for_text("test_touch_resource", {"uri": WATCHED})
        await peer.until_notified(method)
    await peer.call_for_text("test_touch_resource", {"uri": WATCHED})
    await anyio.sleep(SILENCE_SECONDS)
    equal([params["uri"] for params in peer.notifications_of(method)], [WATCHED])
    return "told once while subscribed, not after"


async def list_prompts(peer) -> str:
    prompts = {prompt.name: prompt for prompt in await peer.client.list_prompts()}
    expected = prompts["test_prompt_with_arguments"].arguments
    equal([(argument.name, argument.required) for argument in expected], [("arg1", True), ("arg2", True)])
    return ", ".join(prompts)


async def get_prompts(peer) -> str:
    async def content_of(name: str, given: dict | None = None):
        return (await peer.client.get_prompt(name, given)).messages[0].content

    assert (await content_of("test_simple_prompt")).text
    filled = await content_of("test_prompt_with_arguments", {"arg1": "hello", "arg2": "world"})
    assert "hello" in filled.text and "world" in filled.text, filled.text
    embedded = await content_of("test_prompt_with_embedded_resource", {"resourceUri": "test://example"})
    equal(str(embedded.resource.uri), "test://example")
    check_png((await content_of("test_prompt_with_image")).data)
    unknown = await error_of(peer.client.get_prompt("test_no_such_prompt"))
    equal(unknown.code, INVALID_PARAMS)
    return f"{filled.text}; unknown prompt: {unknown.message}"


async def completion(peer) -> str:
    async def complete(ref, name: str, value: str) -> list[str]:
        return (await peer.client.complete(ref, {"name": name, "value": value})).values

    prompt = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    equal(await complete(prompt, "arg1", "par"), ["paris", "park", "party"])
    equal(await complete(prompt, "arg1", "part"), ["party"])
    template = types.ResourceTemplateReference(type="ref/resource", uri="test://template/{id}/data")
    ids = await complete(template, "id", "1")
    assert ids and all(each.startswith("1") for each in ids), f"ids: {ids}"
    return f"paris, park, party; {len(ids)} ids"


async def log(peer) -> str:
    method = "notifications/message"
    peer.notifications.clear()
    await peer.want_logs("info")
    await peer.call_for_text("test_tool_with_logging")
    await peer.until_notified(method, 3)
    await peer.want_logs("error")
    await peer.call_for_text("test_tool_with_logging")
    await anyio.sleep(SILENCE_SECONDS)
    equal([params["level"] for params in peer.notifications_of(method)], ["info"] * 3)
    return ", ".join(json.dumps(params["data"]) for params in peer.notifications_of(method))


async def sampling(peer) -> str:
    text = await peer.call_for_text("test_sampling", {"prompt": "the time in Bern"})
    assert "heard: the time in Bern" in text, text
    return text


async def roots(peer) -> str:
    equal(json.loads(await peer.call_for_text("test_roots")), peer.roots)
    peer.roots = [*peer.roots, "file:///project/two"]
    if not STATELESS:
        await peer.client.send_roots_list_changed()
    equal(json.loads(await peer.call_for_text("test_roots")), peer.roots)
    return ", ".join(peer.roots)


async def elicitation(peer) -> str:
    texts = []
    later = ["test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"]
    for tool in ["test_elicitation", *(later if FIXTURES >= "2025-11-25" else [])]:
        given = {"message": "Who are you?"} if tool == "test_elicitation" else {}
        text = await peer.call_for_text(tool, given)
        for name, answer in peer.answered.items():
            expected = json.dumps(answer, separators=(",", ":"))
            assert expected in text, f"{tool}: {name} was {expected}, but the server says: {text}"
        texts.append(text)
    return "; ".join(texts)


async def list_changed(peer) -> str:
    async with peer.watching_tools():
        for listed in [True, False]:
            peer.notifications.clear()
            await peer.call_for_text("test_list_changed")
            await peer.until_notified("notifications/tools/list_changed")
            equal("test_dynamic" in [tool.name for tool in await peer.client.list_tools()], listed)
    return "test_dynamic came and went"


async def rounds(peer) -> str:
    """Several questions at once, and one after the other."""
    together = await peer.call_for_text("test_input_required_result_multiple_inputs")
    for answer in ["my name", "heard: ", peer.roots[0]]:
        assert answer in together, together
    in_turn = await peer.call_for_text("test_input_required_result_multi_round")
    assert "my name" in in_turn and "my color" in in_turn, in_turn
    return f"{together}; {in_turn}"


async def caching(peer) -> str:
    hints = await peer.hints()
    for ttl, scope in hints:
        assert ttl >= 0 and scope in ["public", "private"], (ttl, scope)
    return str(hints)


STEPS = {
    "initialize": initialize,
    "ping": ping,
    "tools/list": list_tools,
    "tools/call": call_tools,
    "tools/call error": call_failing,
    "tools/call structured": call_structured,
    "progress": progress,
    "cancel": cancel,
    "resources/list": list_resources,
    "resources/read": read_resources,
    "resources/templates": use_template,
    "resources/subscribe": subscribe,
    "prompts/list": list_prompts,
    "prompts/get": get_prompts,
    "completion": completion,
    "logging": log,
    "sampling": sampling,
    "roots": roots,
    "elicitation": elicitation,
    "list_changed": list_changed,
}
if STATELESS:
    STEPS |= {"rounds": rounds, "caching": caching}


def as_json(model) -> dict:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


async def error_of(call) -> types.ErrorData:
    """The error that a call must end with."""
    try:
        result = await call
    except MCPError as error:
        return error.error
    raise AssertionError(f"should have failed, but answered {result}")


def equal(actual, expected) -> None:
    assert actual == expected, f"{actual!r} is not {expected!r}"


def check_png(text: str) -> None:
    equal(base64.b64decode(text)[1:4], b"PNG")


async def run(peer) -> bool:
    """Takes all steps."""
    with anyio.move_on_after(ALL_SECONDS):
        good = True
        async with peer.client:
            for name, step in STEPS.items():
                good = await take(name, step, peer) and good
        return good
    report("all steps", "failed", f"not done after {ALL_SECONDS} s")
    return False


async def take(name: str, step, peer) -> bool:
    """Takes one step and reports it. What the SDK complains of fails the step during which it did."""
    peer.errors.clear()
    try:
        with anyio.fail_after(STEP_SECONDS):
            detail = await step(peer)
        assert not peer.errors, "the SDK complains"
        report(name, "ok", detail)
        return True
    except Absent as absent:
        report(name, "absent", str(absent))
        return True
    except Exception as error:
        report(name, "failed", "; ".join([f"{type(error).__name__}: {error}", *peer.errors]))
        return False


def report(step: str, status: str, detail: str) -> None:
    print(json.dumps({"step": step, "status": status, "detail": detail}, ensure_ascii=False), flush=True)
