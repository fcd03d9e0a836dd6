"""The steps in which the server asks the client."""

import json

from checks import equal, may_call, requires
from peer import Peer


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
            expected = json.dumps(answer, separators=(",", ":"))
            assert expected in text, f"{tool}: {name} was {expected}, but the server says: {text}"
        texts.append(text)
    return "; ".join(texts)
