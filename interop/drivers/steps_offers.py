"""The steps that use what else a server offers: resources, prompts, completion, logs."""

import json

import anyio
import mcp.types as types
from pydantic import AnyUrl

from checks import SILENCE_SECONDS, check_png, equal, error_of
from peer import Peer

RESOURCE_NOT_FOUND = -32002
WATCHED = "test://watched-resource"


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
    await peer.until_notified(method)
    await peer.session.unsubscribe_resource(AnyUrl(WATCHED))
    await peer.call_for_text("test_touch_resource", {"uri": WATCHED})
    await anyio.sleep(SILENCE_SECONDS)
    equal([params["uri"] for params in peer.notifications_of(method)], [WATCHED])
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
    await peer.until_notified(method, 3)
    await peer.session.set_logging_level("error")
    await peer.call_for_text("test_tool_with_logging")
    await anyio.sleep(SILENCE_SECONDS)
    equal([params["level"] for params in peer.notifications_of(method)], ["info"] * 3)
    return ", ".join(json.dumps(params["data"]) for params in peer.notifications_of(method))


async def read_one(peer: Peer, uri: str):
    contents = (await peer.session.read_resource(AnyUrl(uri))).contents
    equal([str(content.uri) for content in contents], [uri])
    return contents[0]
