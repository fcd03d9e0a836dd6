"""What a client of the Python SDK does with a server that has the fixtures.

Each step answers with what it saw, or raises.
"""

import steps_offers
import steps_questions
import steps_tools
from checks import equal
from peer import REVISION, Peer


async def initialize(peer: Peer) -> str:
    result = await peer.session.initialize()
    equal(result.protocolVersion, REVISION)
    return f"negotiated {result.protocolVersion} with {result.serverInfo.name} {result.serverInfo.version}"


async def ping(peer: Peer) -> str:
    return str((await peer.session.send_ping()).model_dump(exclude_none=True))


STEPS = {
    "initialize": initialize,
    "ping": ping,
    "tools/list": steps_tools.list_tools,
    "tools/call": steps_tools.call_tools,
    "tools/call error": steps_tools.call_failing,
    "tools/call structured": steps_tools.call_structured,
    "progress": steps_tools.progress,
    "cancel": steps_tools.cancel,
    "resources/list": steps_offers.list_resources,
    "resources/read": steps_offers.read_resources,
    "resources/templates": steps_offers.use_template,
    "resources/subscribe": steps_offers.subscribe,
    "prompts/list": steps_offers.list_prompts,
    "prompts/get": steps_offers.get_prompts,
    "completion": steps_offers.completion,
    "logging": steps_offers.log,
    "sampling": steps_questions.sampling,
    "roots": steps_questions.roots,
    "elicitation": steps_questions.elicitation,
    "list_changed": steps_tools.list_changed,
}
