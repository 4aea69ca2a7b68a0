import { ACTIONS, ADMIN_RESOURCES } from "../../../model/activity.ts";
import { ADMIN, SERVICE } from "../../../model/operation.ts";
import type { Schema } from "../types.ts";
import { arrayOf, closed, integer, ref, words } from "./shapes.ts";

/** Entries of the activity logs (contract 13.5, 13.6, 13.22) and events (contract 15). */

const entry = (resource: string): Readonly<Record<string, Schema>> => ({
  requestId: ref("Uuid", "The `Request-Id` of the answer; of a write the id of the operation."),
  timestamp: ref("Time"),
  action: words("What was done (contract 13.6).", ACTIONS),
  result: words("DENY: the request was refused (contract 13.8).", ["SUCCESS", "DENY"]),
  actor: ref("Actor"),
  resource: ref(resource),
});

/** The id of an actor: a token, the admin, or the service itself (contract 13.11). */
const actor: Schema = {
  anyOf: [ref("Id"), { type: "string", enum: [ADMIN, SERVICE] }],
  description: "A token's id, or what has none.",
};

/** A damaged entry of the log may hold any text. */
const event: Readonly<Record<string, Schema>> = {
  sequence: integer("The number of the write. Those of a vault follow each other without a gap (contract 15.1).", 1),
  type: ref("EventType"),
  item: ref("Id", "The Item; absent for an event of the vault itself."),
  version: integer("The version of the Item after the write, where it has one.", 1),
  actor,
  at: ref("Time"),
};

export const activitySchemas: Readonly<Record<string, Schema>> = {
  Actor: closed(
    "Who sent the request, and from where.",
    {
      id: actor,
      jti: ref("Uuid", "The id of the token; absent for the admin and the service."),
      userAgent: { type: "string", maxLength: 256 },
      requestIp: { type: "string", maxLength: 64 },
      originUnknown: {
        type: "boolean",
        const: true,
        description: "The root key that sealed the two texts before was removed, so they are empty (contract 20.6); else absent.",
      },
    },
    ["jti", "originUnknown"],
  ),
  ActorName: closed("Who wrote in a vault (contract 24.13).", {
    id: ref("Id", "The id of a token, person or rule, as `lastEditedBy` and `actor` have it."),
    name: { type: "string", description: "The name; of a person the part of the email before the `@`." },
  }),
  ActivityResource: closed(
    "What the request was about (contract 13.6, 16.12).",
    {
      type: words("What it is.", ["ITEM", "VAULT"]),
      vault: ref("VaultReference"),
      item: ref("ItemReference"),
      items: arrayOf(ref("ItemReference"), { description: "The Items that one request has read, where they are several." }),
      itemVersion: integer("The version that was read or made.", 1),
    },
    ["vault", "item", "items", "itemVersion"],
  ),
  ActivityEntry: closed("An entry of the activity log (contract 13.5).", entry("ActivityResource")),
  BrokenActivityEntry: closed(
    "An entry of a log whose stored record cannot be decrypted (contract 13.27).",
    {
      requestId: { type: "string", description: "The id, as the row has it." },
      timestamp: ref("Time"),
      broken: { type: "string", const: "integrity" },
      log: { type: "string", description: "Only in an export." },
    },
    ["timestamp", "log"],
  ),
  AdminActivityResource: closed(
    "What a request of the admin was about (contract 13.22). The id is absent where the request names and makes none.",
    {
      type: words("What it is.", ADMIN_RESOURCES),
      ...Object.fromEntries(ADMIN_RESOURCES.map((name) => [name.toLowerCase(), closed("Its id.", { id: ref("Uuid") })])),
      reason: { type: "string", description: "Why an exchange was refused (contract 27.6)." },
      vaults: {
        type: "array",
        items: closed("A vault.", { id: ref("Uuid") }),
        description: "The vaults that a session was given (contract 24.12).",
      },
    },
    [...ADMIN_RESOURCES.map((name) => name.toLowerCase()), "vaults", "reason"],
  ),
  AdminActivityEntry: closed("An entry of the log of the admin (contract 13.21).", entry("AdminActivityResource")),
  ExportedEntry: closed("An entry of an export, as its log shows it, and which log that is (contract 23.2).", {
    ...entry("ActivityResource"),
    resource: { anyOf: [ref("ActivityResource"), ref("AdminActivityResource")], description: "What the request was about." },
    log: { anyOf: [ref("Uuid"), { type: "string", enum: [ADMIN] }], description: "The id of a vault or token, or `admin`." },
  }),
  Event: closed("A write that took effect in a vault (contract 15.2).", event, ["item", "version"]),
  EventPage: closed("Events of a vault, the oldest first (contract 15.3).", {
    events: arrayOf(ref("Event")),
    last: { type: "string", description: "The cursor after the last event: the `after` of the next request. Opaque." },
  }),
  VaultEvent: closed("An event of one of several vaults (contract 15.9).", { vault: ref("Id"), ...event }, ["item", "version"]),
  VaultNotice: closed("The data of `vault.deleted` and `reset` in a stream (contract 15.8).", { vault: ref("Id") }),
};
