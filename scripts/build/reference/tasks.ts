import type { OperationId } from "../../../src/api/operations.ts";

/** The tasks of a first integration, with which the reference begins. */

interface Task {
  readonly title: string;
  /** Markdown, as in the descriptions of the document. */
  readonly text: string;
  readonly operations: readonly OperationId[];
  /** Words for the search that neither the title nor the text has. */
  readonly words?: string;
}

export const TASKS: readonly Task[] = [
  {
    title: "Send a first request",
    text: "An administrator issues your token. Send it with each request, as the line above does (contract 8.1).",
    operations: ["createToken", "listVaults", "getOwnToken"],
    words: "authenticate authentication login credentials api key quickstart",
  },
  {
    title: "Read one field by the names of its vault and Item",
    text: "The secret reference `op://<vault>/<item>/<field>` names it. One request resolves up to 100 references (contract 16.2).",
    operations: ["resolveReferences"],
    words: "get password secret value title",
  },
  {
    title: "Find an Item by its title",
    text: 'List the Items of the vault with the filter `title eq "…"` (contract 5.1), then read the one that you need by its id.',
    operations: ["listItems", "getItem"],
    words: "search lookup query",
  },
  {
    title: "Create an Item with a generated password",
    text: 'Give the field `"generate": true` and no value; the answer has the password (contract 7.1).',
    operations: ["createItem"],
    words: "random add new",
  },
  {
    title: "Change one field safely beside other writers",
    text:
      "A PATCH leaves everything that it does not name as it is. Send the `ETag` of your read as `If-Match`. " +
      "If the Item was changed since, the answer is a 412: read the Item again, and repeat (contract 10.2, 10.3).",
    operations: ["getItem", "patchItem"],
    words: "update edit rotate password concurrency lost optimistic lock conflict",
  },
  {
    title: "Retry a write safely",
    text: "Send the same `Idempotency-Key` with each attempt: the write takes effect once (contract 10.7, 10.14, 10.15).",
    operations: ["createItem", "patchItem"],
    words: "idempotent timeout network",
  },
  {
    title: "Upload a File",
    text: "The body is the content, without `multipart/form-data`. The query has its `name` (contract 9.2, 9.3, 12.1).",
    operations: ["uploadFile", "getFileContent"],
    words: "attachment document download binary size limit",
  },
  {
    title: "Follow the changes of a vault",
    text:
      "Ask with `after=latest` for a cursor, list the Items, then ask for the events after the cursor with `wait=30`. " +
      "`Accept: text/event-stream` opens a stream instead (contract 15.4, 15.6, 15.7).",
    operations: ["listEvents", "streamAllEvents", "createWebhook"],
    words: "watch subscribe poll sse notify",
  },
  {
    title: "Give a CI job a token for one Item",
    text:
      'An hour for one Item: `{"name": "ci", "vaults": {"<vault id>": {"permissions": "r", "items": ["<item id>"]}}, "expiresIn": 3600}` ' +
      "(contract 8.15). A job of a known platform can exchange a token of that platform instead (contract 27.6).",
    operations: ["createToken", "createChildToken", "exchangeToken"],
    words: "scope restrict limit issue expire short-lived github actions",
  },
  {
    title: "Page through a long list",
    text: "Send `limit=1000`, then the URL of each `Link` until an answer has none. A page can have fewer entries (contract 11.3, 11.4).",
    operations: ["listItems"],
    words: "pagination paging next cursor all",
  },
];
