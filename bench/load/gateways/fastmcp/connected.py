"""FastMCP in front of the servers in a file. All clients share one session with each server: `connected.py FILE PORT`."""

import asyncio
import json
import sys
from contextlib import AsyncExitStack

from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy


async def main(file: str, port: str) -> None:
    gateway = FastMCP("gateway")
    async with AsyncExitStack() as sessions:
        with open(file) as servers:
            for name, server in json.load(servers)["mcpServers"].items():
                client = await sessions.enter_async_context(Client({"mcpServers": {name: server}}))
                gateway.mount(create_proxy(client), namespace=name)
        await gateway.run_http_async(host="127.0.0.1", port=int(port), log_level="ERROR", show_banner=False)


asyncio.run(main(*sys.argv[1:]))
