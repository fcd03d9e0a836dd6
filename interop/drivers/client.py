"""A client of the installed Python SDK that goes through everything with a server that has the fixtures.

    python client.py (--stdio COMMAND ARGUMENT… | --http URL | --sse URL)

It prints a line of JSON for each step, and exits with 0 if none failed.
"""

import json
import sys

import anyio

from client_steps import STEPS
from peer import Absent, Peer, open_streams

STEP_SECONDS = 8
ALL_SECONDS = 28


async def run(transport: str, target: str, parameters: list[str]) -> bool:
    with anyio.move_on_after(ALL_SECONDS):
        try:
            async with open_streams(transport, target, parameters) as (read, write):
                peer = Peer(read, write)
                async with peer.session:
                    return await take_all(peer)
        except Absent as absent:
            report("initialize", "absent", str(absent))
            return True
    report("all steps", "failed", f"not done after {ALL_SECONDS} s")
    return False


async def take_all(peer: Peer) -> bool:
    good = True
    for name, step in STEPS.items():
        good = await take(name, step, peer) and good
        # Without a session every other step would only fail too.
        if name == "initialize" and not good:
            break
    return good


async def take(name: str, step, peer: Peer) -> bool:
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
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        report(name, "failed", "; ".join([f"{type(error).__name__}: {error}", *peer.errors]))
        return False


def report(step: str, status: str, detail: str) -> None:
    print(json.dumps({"step": step, "status": status, "detail": detail}, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ["--stdio", "--http", "--sse"]:
        sys.exit("usage: client.py (--stdio COMMAND ARGUMENT… | --http URL | --sse URL)")
    sys.exit(0 if anyio.run(run, sys.argv[1], sys.argv[2], sys.argv[3:]) else 1)
