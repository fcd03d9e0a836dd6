// Remembers the events of a session's streams, so that a client that was cut off can have what it missed.

export class EventStore {
  #events = [];

  async storeEvent(streamId, message) {
    this.#events.push({ streamId, message });
    return String(this.#events.length);
  }

  async getStreamIdForEventId(eventId) {
    return this.#events[eventId - 1]?.streamId;
  }

  async replayEventsAfter(lastEventId, { send }) {
    const streamId = await this.getStreamIdForEventId(lastEventId);
    for (const [index, event] of this.#events.entries()) {
      // The events that only tell a stream's first id have no message.
      const isMissed = index >= lastEventId && event.streamId === streamId && event.message.jsonrpc;
      if (isMissed) await send(String(index + 1), event.message);
    }
    return streamId;
  }
}
