import { ACTIONS, RESULTS } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { ADMIN, SERVICE } from "../../model/operation.ts";
import { COUNTS } from "../../model/query.ts";
import { ref } from "./schemas/shapes.ts";
import type { Parameter, Schema } from "./types.ts";

/** The parameters of requests, by the names of their components. */

const inPath = (name: string, description: string, schema: Schema): Parameter => ({
  name,
  in: "path",
  required: true,
  description,
  schema,
});
const inQuery = (name: string, description: string, schema: Schema): Parameter => ({ name, in: "query", description, schema });
const inHeader = (name: string, description: string, schema: Schema): Parameter => ({ name, in: "header", description, schema });

const text: Schema = { type: "string" };
/** The id of an entry in the log. A damaged id follows `~`, as in the `Link` of a page. */
const entry: Schema = { anyOf: [ref("IdInput"), { type: "string", pattern: "^~" }] };
const flag: Schema = { type: "boolean" };

/** Returns an integer parameter of the query, as `parseCount` accepts it. `component` is the name of its component. */
function count(component: keyof typeof COUNTS, description: string): Parameter {
  const { name, minimum, maximum, ...rest } = COUNTS[component];
  const absent = "default" in rest ? ` The default is ${rest.default}.` : "";
  return inQuery(name, description + absent, { type: "integer", minimum, maximum });
}

/** Returns the name of the component of a parameter of paths. A schema is named as the thing itself, so the parameter is not. */
export const pathComponent = (name: string): string => `${name[0]!.toUpperCase()}${name.slice(1)}Path`;

/** The parameters of paths, by their names there. */
export const pathParameters = {
  vault: inPath("vault", "The id of the vault (contract 3.2).", ref("IdInput")),
  item: inPath("item", "The id of the Item (contract 3.2).", ref("IdInput")),
  file: inPath("file", "The id of the File. A text that is no id names nothing (contract 3.4).", text),
  version: inPath("version", "The number of a version (contract 14.4).", { type: "integer", minimum: 1 }),
  token: inPath("token", "The id of the token (contract 3.2).", ref("IdInput")),
  job: inPath("job", "The id of the job (contract 3.2).", ref("IdInput")),
  issuer: inPath("issuer", "The id of the issuer (contract 3.2).", ref("IdInput")),
  rule: inPath("rule", "The id of the rule (contract 3.2).", ref("IdInput")),
  person: inPath("person", "The id of the person (contract 3.2).", ref("IdInput")),
  webhook: inPath("webhook", "The id of the webhook (contract 3.2).", ref("IdInput")),
} as const satisfies Readonly<Record<string, Parameter>>;

export const parameters = {
  ItemFilter: {
    ...inQuery(
      "filter",
      "Terms joined by `and`, which all have to hold (contract 5.1, 5.2), or up to 100 ids joined by `or` (contract 5.11). A value has at most 4 KiB.",
      text,
    ),
    example: 'title eq "Production database"',
  },
  VaultFilter: {
    ...inQuery("filter", "One term; names without regard to case (contract 5.3).", text),
    example: 'name eq "Production"',
  },
  Limit: count("Limit", "Asks for a page of at most so many entries (contract 11.3)."),
  VersionLimit: count("VersionLimit", "The most versions of a page (contract 11.9)."),
  DeletedLimit: count("DeletedLimit", "The most deleted Items of a page (contract 11.9)."),
  LogLimit: count("LogLimit", "The most entries of a page (contract 13.9)."),
  EventLimit: count("EventLimit", "The most events of a page. A stream ignores it (contract 15.3)."),
  Cursor: inQuery("cursor", "Where the page begins: opaque, from the `Link` of the page before (contract 11.3).", text),
  Offset: count("Offset", "How many entries to skip (contract 13.9)."),
  Before: inQuery(
    "before",
    "The page has the entries before the one with this `requestId`. Not with `offset` (contract 13.19).",
    entry,
  ),
  LogBefore: inQuery("before", "The page has the entries before the one with this `requestId` (contract 13.21).", entry),
  ByVault: inQuery("vault", "Only entries about this vault. Not with `offset` (contract 13.25).", ref("IdInput")),
  ByActor: inQuery(
    "actor",
    "Only entries of this token, of the admin, or of the service itself. Not with `offset` (contract 13.25).",
    { anyOf: [ref("IdInput"), { type: "string", enum: [ADMIN, SERVICE] }] },
  ),
  OfItem: inQuery("item", "Only those who wrote this Item (contract 24.13).", ref("IdInput")),
  ByItem: inQuery("item", "Only entries about this Item. Not with `offset` (contract 13.25).", ref("IdInput")),
  ByAction: inQuery("action", "Only entries with this `action`. Not with `offset` (contract 13.25).", {
    type: "string",
    enum: ACTIONS,
  }),
  ByResult: inQuery("result", "Only entries with this `result`. Not with `offset` (contract 13.25).", {
    type: "string",
    enum: RESULTS,
  }),
  OfVault: inQuery("vault", "Only the log of this vault, also of a deleted one (contract 23.3).", ref("IdInput")),
  Since: inQuery("since", "Only entries from this time on (contract 23.3).", { type: "string", format: "date-time" }),
  Until: inQuery("until", "Only entries before this time (contract 23.3).", { type: "string", format: "date-time" }),
  Archived: inQuery("archived", "Whether the list has the archived Items too (contract 14.15). The default is false.", flag),
  Include: inQuery("include", "`username` adds the user names (contract 11.8).", { type: "string", const: "username" }),
  InlineFiles: inQuery(
    "inline_files",
    "Adds the contents, up to the inline limit (contract 9.8, 9.9). The default is false.",
    flag,
  ),
  InlineContent: inQuery(
    "inline_content",
    "Another name of `inline_files`, which counts when both are there (contract 9.8).",
    flag,
  ),
  VersionOfFile: inQuery(
    "version",
    "The version of the Item that the content is of; by default the current one (contract 14.5).",
    {
      type: "integer",
      minimum: 1,
    },
  ),
  FileName: {
    ...inQuery("name", `The name of the File, at most ${LIMITS.fileName} bytes of UTF-8 (contract 9.3).`, {
      type: "string",
      maxLength: LIMITS.fileName,
    }),
    example: "ca.pem",
  },
  FileSection: inQuery(
    "section",
    `The id of a section for the File, at most ${LIMITS.sectionId} bytes of UTF-8 (contract 9.4).`,
    {
      type: "string",
      maxLength: LIMITS.sectionId,
    },
  ),
  VaultsAfter: inQuery("after", "The page has the vaults after this id (contract 21.15).", ref("IdInput")),
  ObjectsAfter: inQuery("after", "The page has the objects after this key (contract 21.9).", text),
  ObjectKey: {
    ...inQuery("key", "The key of the object (contract 21.9).", text),
    required: true,
    example: "vaults/3fa85f64-5717-4562-b3fc-2c963f66afa6/parts/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  },
  After: inQuery("after", "Where to begin: `0`, `latest`, or a cursor (contract 15.4).", text),
  Wait: count(
    "StreamWait",
    `Seconds that a request without events waits for one, at most ${LIMITS.wait} (contract 15.6). Of a stream: how long it lasts, ` +
      `at most ${LIMITS.stream} seconds, which is its default (contract 15.8). The default of other requests is 0.`,
  ),
  JobWait: count("JobWait", "Seconds for which the answer waits for the end of the job (contract 26.4)."),
  StreamWait: count(
    "StreamWait",
    `Seconds that the stream lasts (contract 15.8). With \`Accept: text/event-stream\` the default is ${LIMITS.stream}, else 0.`,
  ),
  IfMatch: inHeader("If-Match", "Entity tags of the current version, or `*`; otherwise a 412 (contract 10.2, 10.3).", text),
  IfNoneMatch: inHeader(
    "If-None-Match",
    "Entity tags that the client has, or `*`: then a 304 (contract 9.11, 10.4, 11.11, 16.11).",
    text,
  ),
  IdempotencyKey: inHeader(
    "Idempotency-Key",
    "A repeated request with the same key has no second effect and gets the first answer (contract 10.7 to 10.19).",
    { type: "string", minLength: 1, maxLength: LIMITS.idempotencyKey, pattern: "^[!-~]+$" },
  ),
  ItemId: inHeader(
    "Item-Id",
    "The id of the new Item. A 409 when the vault has an Item or a deleted Item with it (contract 10.23 to 10.26).",
    ref("IdInput"),
  ),
  Range: inHeader("Range", "One range of bytes: then a 206 (contract 9.12).", text),
  IfRange: inHeader(
    "If-Range",
    "An `ETag`; if it is not the current one, the answer is the whole content (contract 9.12).",
    text,
  ),
  ContentDigest: inHeader("Content-Digest", "`sha-256=:…:` (RFC 9530), which is compared with the content (contract 9.5).", text),
  FileDisposition: inHeader(
    "Content-Disposition",
    "The name of the File as `filename`, if `name` is absent (contract 9.3).",
    text,
  ),
  Bookmark: inHeader(
    "Item-Vault-Bookmark",
    `Up to ${LIMITS.bookmarks} values of this header in earlier answers: the answer shows no earlier state. Ignored without \`stale\` (contract 8.14).`,
    text,
  ),
  LastEventId: inHeader("Last-Event-ID", "Continues a stream after the event with this id (contract 15.7).", text),
} as const satisfies Readonly<Record<string, Parameter>>;

export type ParameterName = keyof typeof parameters;

/** All parameters, by the names of their components. */
export const parameterComponents: Readonly<Record<string, Parameter>> = {
  ...Object.fromEntries(Object.entries(pathParameters).map(([name, parameter]) => [pathComponent(name), parameter])),
  ...parameters,
};
