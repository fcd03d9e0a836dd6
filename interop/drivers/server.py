"""A server of the installed Python SDK, with the fixtures, for our client to talk to.

    python server.py (--stdio | --http | --sse)

Over HTTP it prints its URL first. It stops at the end of its input or on SIGTERM.
"""

import socket
import sys
import threading

import anyio
import uvicorn
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server

from server_fixtures import REVISION, FixtureServer

RETRY_MILLISECONDS = 50


async def serve_stdio() -> None:
    server = FixtureServer()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_streamable_http() -> None:
    try:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    except ImportError:
        sys.exit("this SDK has no Streamable HTTP")
    manager = StreamableHTTPSessionManager(FixtureServer(), **resumption())

    async def answer(scope, receive, send) -> None:
        if scope["path"] == "/mcp":
            await manager.handle_request(scope, receive, send)
        else:
            await refuse(send)

    async with manager.run():
        await listen("/mcp", answer)


def resumption() -> dict:
    """Since then a server may end a stream and be asked for the rest."""
    if REVISION < "2025-11-25":
        return {}
    from event_store import MemoryEventStore

    return {"event_store": MemoryEventStore(), "retry_interval": RETRY_MILLISECONDS}


async def serve_http_with_sse() -> None:
    server = FixtureServer()
    transport = SseServerTransport("/messages")

    async def answer(scope, receive, send) -> None:
        match scope["path"]:
            case "/sse" if scope["method"] == "GET":
                async with transport.connect_sse(scope, receive, send) as (read, write):
                    await server.run(read, write, server.create_initialization_options())
            case "/messages":
                await transport.handle_post_message(scope, receive, send)
            case _:
                await refuse(send)

    await listen("/sse", answer)


async def listen(path: str, answer) -> None:
    """Serves on a free port of this machine, and tells on standard output where `path` is."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # Whoever reads the URL may connect at once.
    listener.listen()
    config = uvicorn.Config(answer, lifespan="off", log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    threading.Thread(target=stop_at_end_of_input, args=[server], daemon=True).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    await server.serve(sockets=[listener])


def stop_at_end_of_input(server: uvicorn.Server) -> None:
    sys.stdin.read()
    server.should_exit = True


async def refuse(send) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b""})


SERVE = {"--stdio": serve_stdio, "--http": serve_streamable_http, "--sse": serve_http_with_sse}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in SERVE:
        sys.exit("usage: server.py (--stdio | --http | --sse)")
    anyio.run(SERVE[sys.argv[1]])
