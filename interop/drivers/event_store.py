"""Remembers the events of the streams, so that a client that was cut off can have what it missed."""

from mcp.server.streamable_http import EventMessage, EventStore


class MemoryEventStore(EventStore):
    def __init__(self) -> None:
        self._events: list[tuple] = []

    async def store_event(self, stream_id, message) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id, send_callback):
        last = int(last_event_id)
        if not 0 < last <= len(self._events):
            return None
        stream_id = self._events[last - 1][0]
        for index, (stream, message) in enumerate(self._events[last:], last):
            # The events that only tell a stream's first id have no message.
            if stream == stream_id and message is not None:
                await send_callback(EventMessage(message, str(index + 1)))
        return stream_id
