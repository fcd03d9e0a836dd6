"""What a client of the Python SDK does with a server that has the fixtures. Each step answers with what it saw, or raises."""

import base64
import json

import anyio
import mcp.types as types
from mcp.shared.exceptions import McpError
from peer import REVISION, Absent, Peer
from pydantic import AnyUrl

RESOURCE_NOT_FOUND = -32002
SILENCE_SECONDS = 0.25
"""How long a message that must not come is waited for."""
WATCHED = "test://watched-resource"


async def initialize(peer: Peer) -> str:
    result = await peer.session.initialize()
    equal(result.protocolVersion, REVISION)
    return f"negotiated {result.protocolVersion} with {result.serverInfo.name} {result.serverInfo.version}"


async def ping(peer: Peer) -> str:
    return str((await peer.session.send_ping()).model_dump(exclude_none=True))


async def list_tools(peer: Peer) -> str:
    listed = await peer.tools()
    tools = {tool.name: tool for tool in listed}
    equal(len(tools), len(listed))
    for name in ["test_simple_text", "test_tool_with_progress", "json_schema_2020_12_tool"]:
        assert name in tools, f"{name} is not listed"
    assert "test_dynamic" not in tools, "test_dynamic is listed before it was added"
    schema = tools["json_schema_2020_12_tool"].inputSchema
    assert "address" in schema["$defs"], "the definitions of a tool's schema are lost"
    equal(schema["additionalProperties"], False)
    if REVISION >= "2025-06-18":
        assert "celsius" in tools["test_structured"].outputSchema["properties"], "an output schema is lost"
    peer.tool_names = list(tools)
    return f"{len(tools)} tools"


async def call_tools(peer: Peer) -> str:
    async def blocks_of(name: str):
        return (await peer.session.call_tool(name, {})).content

    [text] = await blocks_of("test_simple_text")
    assert text.type == "text" and text.text
    [image] = await blocks_of("test_image_content")
    equal(image.mimeType, "image/png")
    check_png(image.data)
    [embedded] = await blocks_of("test_embedded_resource")
    equal(str(embedded.resource.uri), "test://embedded-resource")
    assert embedded.resource.text
    kinds = [block.type for block in await blocks_of("test_multiple_content_types")]
    equal(kinds, ["text", "image", "resource"])
    if may_call(peer, "test_audio_content", "2025-03-26"):
        [audio] = await blocks_of("test_audio_content")
        check_audio(audio)
        kinds.append(f"audio as {audio.type}")
    if may_call(peer, "test_reconnection", "2025-11-25"):
        kinds.append(await peer.call_for_text("test_reconnection"))
    return ", ".join(kinds)


def check_audio(block) -> None:
    """Before there was audio, it has to come as a resource."""
    mime_type, data = (
        (block.mimeType, block.data) if REVISION >= "2025-03-26" else (block.resource.mimeType, block.resource.blob)
    )
    equal(mime_type, "audio/wav")
    equal(base64.b64decode(data)[:4], b"RIFF")


async def call_failing(peer: Peer) -> str:
    failed = await peer.session.call_tool("test_error_handling", {})
    assert failed.isError and failed.content[0].text
    unknown = await error_of(peer.session.call_tool("test_no_such_tool", {}))
    equal(unknown.code, types.INVALID_PARAMS)
    return f"isError: {failed.content[0].text}; unknown tool: {unknown.message}"


async def call_structured(peer: Peer) -> str:
    requires("2025-06-18", "structured content")
    result = await peer.session.call_tool("test_structured", {})
    equal(result.structuredContent, {"celsius": 21.5, "city": "Bern"})
    equal(json.loads(result.content[0].text), result.structuredContent)
    return result.content[0].text


async def progress(peer: Peer) -> str:
    peer.notifications.clear()
    token = "a token of the client's"
    params = {"name": "test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": token}}
    await peer.request("tools/call", params, types.CallToolResult)
    reports = peer.told("notifications/progress")
    seen = [(report["progressToken"], report["progress"], report["total"]) for report in reports]
    equal(seen, [(token, 0, 100), (token, 50, 100), (token, 100, 100)])
    return ", ".join(f"{done:g} of {total:g}" for _, done, total in seen)


async def cancel(peer: Peer) -> str:
    before = int(await peer.call_for_text("test_cancelled"))
    answers = []

    async def call_slowly() -> None:
        try:
            answers.append(f"answered {await peer.session.call_tool('test_slow', {})}")
        except McpError as error:
            answers.append(f"answered with an error: {error.error.message}")

    async def has_been_cancelled() -> bool:
        return int(await peer.call_for_text("test_cancelled")) == before + 1

    async with anyio.create_task_group() as tasks:
        # No era's SDK cancels by itself or tells a call's id: it counts them.
        slow = peer.session._request_id
        tasks.start_soon(call_slowly)
        # The server must have begun: over HTTP, a cancellation could overtake what it cancels.
        await anyio.sleep(SILENCE_SECONDS)
        await peer.notify("notifications/cancelled", {"requestId": slow, "reason": "no longer wanted"})
        await peer.until("the slow call's end", has_been_cancelled)
        await anyio.sleep(SILENCE_SECONDS)
        tasks.cancel_scope.cancel()
    equal(answers, [])
    return "cancelled and not answered; the notification was sent by the driver"


async def list_resources(peer: Peer) -> str:
    uris = [str(resource.uri) for resource in (await peer.session.list_resources()).resources]
    for uri in ["test://static-text", "test://static-binary", WATCHED]:
        assert uri in uris, f"no {uri}"
    return ", ".join(uris)


async def read_resources(peer: Peer) -> str:
    text = await read_one(peer, "test://static-text")
    equal(text.mimeType, "text/plain")
    assert text.text
    binary = await read_one(peer, "test://static-binary")
    equal(binary.mimeType, "image/png")
    check_png(binary.blob)
    missing = "test://no-such-resource"
    unknown = await error_of(peer.session.read_resource(AnyUrl(missing)))
    equal((unknown.code, unknown.data), (RESOURCE_NOT_FOUND, {"uri": missing}))
    return f"{text.text}; unknown resource: {unknown.message}"


async def use_template(peer: Peer) -> str:
    templates = (await peer.session.list_resource_templates()).resourceTemplates
    assert "test://template/{id}/data" in [template.uriTemplate for template in templates], f"only {templates}"
    text = (await read_one(peer, "test://template/4711/data")).text
    assert "4711" in text, text
    return text


async def subscribe(peer: Peer) -> str:
    method = "notifications/resources/updated"
    peer.notifications.clear()
    await peer.session.subscribe_resource(AnyUrl(WATCHED))
    await peer.call_for_text("test_touch_resource", {"uri": WATCHED})
    await peer.until_told(method)
    await peer.session.unsubscribe_resource(AnyUrl(WATCHED))
    await peer.call_for_text("test_touch_resource", {"uri": WATCHED})
    await anyio.sleep(SILENCE_SECONDS)
    equal([told["uri"] for told in peer.told(method)], [WATCHED])
    return "told once while subscribed, not after"


async def list_prompts(peer: Peer) -> str:
    prompts = {prompt.name: prompt for prompt in (await peer.session.list_prompts()).prompts}
    expected = prompts["test_prompt_with_arguments"].arguments
    equal([(argument.name, argument.required) for argument in expected], [("arg1", True), ("arg2", True)])
    return ", ".join(prompts)


async def get_prompts(peer: Peer) -> str:
    async def content_of(name: str, given: dict | None = None):
        return (await peer.session.get_prompt(name, given)).messages[0].content

    assert (await content_of("test_simple_prompt")).text
    filled = await content_of("test_prompt_with_arguments", {"arg1": "hello", "arg2": "world"})
    assert "hello" in filled.text and "world" in filled.text, filled.text
    embedded = await content_of("test_prompt_with_embedded_resource", {"resourceUri": "test://example"})
    equal(str(embedded.resource.uri), "test://example")
    check_png((await content_of("test_prompt_with_image")).data)
    unknown = await error_of(peer.session.get_prompt("test_no_such_prompt"))
    equal(unknown.code, types.INVALID_PARAMS)
    return f"{filled.text}; unknown prompt: {unknown.message}"


async def completion(peer: Peer) -> str:
    async def complete(ref: dict, name: str, value: str) -> list[str]:
        params = {"ref": ref, "argument": {"name": name, "value": value}}
        return (await peer.request("completion/complete", params, types.CompleteResult)).completion.values

    prompt = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    equal(await complete(prompt, "arg1", "par"), ["paris", "park", "party"])
    equal(await complete(prompt, "arg1", "part"), ["party"])
    ids = await complete({"type": "ref/resource", "uri": "test://template/{id}/data"}, "id", "1")
    assert ids and all(each.startswith("1") for each in ids), f"ids: {ids}"
    return f"paris, park, party; ids: {', '.join(ids)}"


async def log(peer: Peer) -> str:
    method = "notifications/message"
    peer.notifications.clear()
    await peer.session.set_logging_level("info")
    await peer.call_for_text("test_tool_with_logging")
    await peer.until_told(method, 3)
    await peer.session.set_logging_level("error")
    await peer.call_for_text("test_tool_with_logging")
    await anyio.sleep(SILENCE_SECONDS)
    equal([told["level"] for told in peer.told(method)], ["info"] * 3)
    return ", ".join(json.dumps(told["data"]) for told in peer.told(method))


async def sampling(peer: Peer) -> str:
    text = await peer.call_for_text("test_sampling", {"prompt": "the time in Bern"})
    assert "heard: the time in Bern" in text, text
    return text


async def roots(peer: Peer) -> str:
    equal(json.loads(await peer.call_for_text("test_roots")), peer.roots)
    peer.roots.append("file:///project/two")
    await peer.session.send_roots_list_changed()
    equal(json.loads(await peer.call_for_text("test_roots")), peer.roots)
    return ", ".join(peer.roots)


async def elicitation(peer: Peer) -> str:
    requires("2025-06-18", "elicitation")
    calls = {"test_elicitation": {"message": "Who are you?"}}
    for name in ["test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"]:
        if may_call(peer, name, "2025-11-25"):
            calls[name] = {}
    texts = []
    for tool, given in calls.items():
        text = await peer.call_for_text(tool, given)
        for name, answer in peer.answered.items():
            told = json.dumps(answer, separators=(",", ":"))
            assert told in text, f"{tool}: {name} was {told}, but the server says: {text}"
        texts.append(text)
    return "; ".join(texts)


async def list_changed(peer: Peer) -> str:
    for listed in [True, False]:
        peer.notifications.clear()
        await peer.call_for_text("test_list_changed")
        await peer.until_told("notifications/tools/list_changed")
        equal("test_dynamic" in [tool.name for tool in await peer.tools()], listed)
    return "test_dynamic came and went"


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


def may_call(peer: Peer, name: str, since: str) -> bool:
    """Whether the server has this tool; a server for an era before `since` need not, but ours translates what it can."""
    listed = name in peer.tool_names
    assert listed or REVISION < since, f"{name} is not listed"
    return listed


def requires(since: str, what: str) -> None:
    if REVISION < since:
        raise Absent(f"{what} came with {since}; this SDK speaks {REVISION}")


async def read_one(peer: Peer, uri: str):
    contents = (await peer.session.read_resource(AnyUrl(uri))).contents
    equal([str(content.uri) for content in contents], [uri])
    return contents[0]


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
