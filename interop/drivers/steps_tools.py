"""The steps that call tools."""

import base64
import json

import anyio
import mcp.types as types
from mcp.shared.exceptions import McpError

from checks import FIXTURES, SILENCE_SECONDS, check_png, equal, error_of, may_call, requires
from peer import Peer

HEAD_START_SECONDS = 0.5


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
    if FIXTURES >= "2025-06-18":
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
    if FIXTURES >= "2025-03-26":
        mime_type, data = block.mimeType, block.data
    else:
        mime_type, data = block.resource.mimeType, block.resource.blob
    equal(mime_type, "audio/wav")
    equal(base64.b64decode(data)[:4], b"RIFF")


async def call_failing(peer: Peer) -> str:
    failed = await peer.session.call_tool("test_error_handling", {})
    assert failed.isError and failed.content[0].text
    unknown = await error_of(peer.session.call_tool("test_no_such_tool", {}))
    equal(unknown.code, types.INVALID_PARAMS)
    invalid = await invalid_arguments(peer)
    return f"isError: {failed.content[0].text}; unknown tool: {unknown.message}; invalid arguments: {invalid}"


async def invalid_arguments(peer: Peer) -> str:
    """A model reads what is wrong with its arguments; before it could, they were an error."""
    call = peer.session.call_tool("test_touch_resource", {"uri": 5})
    if FIXTURES >= "2025-11-25":
        result = await call
        assert result.isError and "uri" in result.content[0].text, result
        return result.content[0].text
    error = await error_of(call)
    equal(error.code, types.INVALID_PARAMS)
    return error.message


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
    reports = peer.notifications_of("notifications/progress")
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
        await anyio.sleep(HEAD_START_SECONDS)
        await peer.notify("notifications/cancelled", {"requestId": slow, "reason": "no longer wanted"})
        await peer.until("the slow call's end", has_been_cancelled)
        await anyio.sleep(SILENCE_SECONDS)
        tasks.cancel_scope.cancel()
    equal(answers, [])
    return "cancelled and not answered; the notification was sent by the driver"


async def list_changed(peer: Peer) -> str:
    for listed in [True, False]:
        peer.notifications.clear()
        await peer.call_for_text("test_list_changed")
        await peer.until_notified("notifications/tools/list_changed")
        equal("test_dynamic" in [tool.name for tool in await peer.tools()], listed)
    return "test_dynamic came and went"
