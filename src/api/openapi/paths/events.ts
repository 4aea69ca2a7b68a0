import { eventStream, json } from "../content.ts";
import { eventPage } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** Events (contract 15). Reading them has no entry in the log. */

const tag = "Events";

export const eventDescriptions = {
  listEvents: {
    tag,
    summary: "Follow the writes to a vault",
    description:
      "Returns the events after a cursor, waits for one, or, with `Accept: text/event-stream`, streams them (contract 15.3 to 15.8). " +
      "A client that gets a 410 begins again with `after=latest` and reads the Items.",
    parameters: ["After", "EventLimit", "Wait", "LastEventId"],
    answers: {
      200: {
        description: "A page of events, or a stream.",
        content: { ...json("EventPage", eventPage), ...eventStream("Event", "The events of the vault (contract 15.7).") },
      },
    },
    errors: ["invalid", "cursor_gone"],
  },
  streamAllEvents: {
    tag,
    summary: "Follow all vaults of the token",
    description:
      "One stream of the vaults that the token reads (contract 15.9). The `id` of an event has a position in each vault.",
    parameters: ["After", "StreamWait", "LastEventId"],
    answers: { 200: { description: "The stream.", content: eventStream("VaultEvent", "The events of all vaults.") } },
    errors: ["invalid", "cursor_gone"],
  },
} satisfies Partial<Descriptions>;
