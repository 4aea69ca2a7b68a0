import type { Reply } from "../../support/service.ts";
import type { Call, Kind, Outcome, PlannedCall } from "./calls.ts";
import { largeFields } from "./requests.ts";

/** Records the requests of clients and the answers as a history, for check.ts. */

/** The sender of a request, with the state of the revocation of its token. */
export interface Sender {
  readonly revocation: "none" | "requested" | "acknowledged";
}

export interface Recorder {
  readonly history: Call[];
  /** Answers that the contract does not allow for their requests. */
  readonly unexpected: string[];
  /** The ids of all Items that an answer named. */
  readonly knownItems: Set<string>;
  /** The ids of the Items that an answer showed as deleted. */
  readonly deletedItems: Set<string>;
  /** The entity tag of a version of an Item, if an answer showed it. */
  tagOf(item: string | undefined, version: number | undefined): string | undefined;
  /** The versions of an Item whose contents answers have shown, from the oldest. */
  versionsOf(item: string): readonly number[];
  /** Sends a request and records its call. */
  record(planned: PlannedCall, sender: Sender, send: () => Promise<Reply>): Promise<Reply>;
  /** Requests the list of all Items, and records a read for each Item in it and for each known Item that is not in it. */
  recordList(sender: Sender, send: () => Promise<Reply>): Promise<void>;
}

/**
 * In: the ids of the operations that a coordinator must refuse (poisoned-operations.ts); the id of an Item that the history
 * leaves out.
 */
export function createRecorder(poisoned: ReadonlySet<string>, hidden?: string): Recorder {
  const history: Call[] = [];
  const unexpected: string[] = [];
  const knownItems = new Set<string>();
  const deletedItems = new Set<string>();
  const entityTags = new Map<string, string>();
  const versions = new Map<string, Set<number>>();
  let ticks = 0;

  /** Sends a request. A request that is sent after the revocation of its token was acknowledged must be refused. */
  async function timed(kind: string, sender: Sender, send: () => Promise<Reply>) {
    const start = ++ticks;
    const afterRevocation = sender.revocation === "acknowledged";
    const reply = await send();
    const end = ++ticks;
    const denied = reply.status === 401 && sender.revocation !== "none";
    const outcome =
      denied || (afterRevocation && (reply.status === 503 || reply.status === 507)) || isRefusedAlone(reply, poisoned)
        ? "refused"
        : afterRevocation
          ? undefined
          : outcomeOf(reply);
    if (!outcome) unexpected.push(`${kind}${afterRevocation ? " with a revoked token" : ""}: ${reply.status} ${reply.text}`);
    return { start, end, reply, outcome: outcome ?? "unknown" };
  }

  function learnDeletion(kind: Kind, item: string, outcome: Outcome): void {
    const ofDeleted = kind === "undelete" || kind === "purge";
    if (outcome === "ok" && kind === "undelete") deletedItems.delete(item);
    else if ((outcome === "ok" && kind === "delete") || (outcome === "not found" && !ofDeleted)) deletedItems.add(item);
  }

  return {
    history,
    unexpected,
    knownItems,
    deletedItems,
    tagOf: (item, version) => (item === undefined || version === undefined ? undefined : entityTags.get(nameOf(item, version))),
    versionsOf: (item) => [...(versions.get(item) ?? [])].toSorted((a, b) => a - b),
    async record(planned, sender, send) {
      const { start, end, reply, outcome } = await timed(planned.kind, sender, send);
      const { body, text } = reply;
      const item: string | undefined = outcome === "ok" ? (body?.id ?? planned.item) : planned.item;
      if (outcome === "ok" && item !== undefined) knownItems.add(item);
      const tag = reply.headers.get("ETag") ?? undefined;
      const { kept, ...shown } = outcome === "ok" && body ? shownBy(planned.kind, body, tag) : {};
      const { state } = shown;
      if (item !== undefined && state && tag !== undefined) entityTags.set(nameOf(item, state.version), tag);
      if (item !== undefined && state?.content) versions.getOrInsertComputed(item, () => new Set()).add(state.version);
      if (item !== undefined) learnDeletion(planned.kind, item, outcome);
      if (planned.kind === "look" && state && state.version !== planned.source)
        unexpected.push(`version ${planned.source} is shown as ${text}`);
      if (kept && !isNewestFirst(body)) unexpected.push(`not a list of versions, newest first: ${text}`);
      history.push({ ...planned, item, start, end, outcome, state, kept, text: state && planned.value && text });
      return reply;
    },
    async recordList(sender, send) {
      const missing = new Set(knownItems);
      const { start, end, reply, outcome } = await timed("list", sender, send);
      if (outcome !== "ok") return;
      const read = { kind: "read", start, end } as const;
      for (const { id, version, tags } of reply.body as { id: string; version: number; tags: string[] }[]) {
        missing.delete(id);
        if (id === hidden) continue;
        knownItems.add(id);
        versions.getOrInsertComputed(id, () => new Set()).add(version);
        history.push({ ...read, item: id, outcome: "ok", state: { version, content: tags } });
      }
      for (const item of missing) history.push({ ...read, item, outcome: "not found" });
    },
  };
}

const nameOf = (item: string, version: number): string => `${item} ${version}`;

const isNewestFirst = (versions: { version: number; current: boolean }[]): boolean =>
  versions.every(({ version, current }, n) => current === (n === 0) && (n === 0 || version < versions[n - 1]!.version));

/** What the body of an answer shows of an Item and its versions. */
function shownBy(kind: Kind, body: any, tag: string | undefined): Pick<Call, "state" | "kept"> {
  if (kind !== "versions") return { state: { version: body.version as number, tag, content: contentOf(body) } };
  const [current, ...earlier] = body as { version: number }[];
  return { state: { version: current!.version }, kept: earlier.map(({ version }) => version) };
}

/** The content of an Item: its tags. Its fields, which are in another sealed text, must contain the same values. */
function contentOf({ tags, fields }: { tags: string[]; fields: { id: string; value: string }[] }): readonly string[] {
  const large = new Map(largeFields(tags[0] ?? "").map(({ id, value }) => [id, value]));
  const small = fields.filter(({ id, value }) => large.get(id) !== value);
  if (fields.length - small.length !== large.size) return [`torn write: the large fields of ${tags.join()}`];
  const fieldValues = small.map(({ id, value }) => (id === value ? id : `${id} with the value ${value}`));
  return fieldValues.join() === tags.join() ? tags : [`torn write: the tags ${tags.join()}, the fields ${fieldValues.join()}`];
}

/** Whether the answer refuses a poisoned operation. */
export const isRefusedAlone = ({ status, headers }: Reply, poisoned: ReadonlySet<string>): boolean =>
  (status === 500 || status === 503) && poisoned.has(headers.get("Request-Id") ?? "");

function outcomeOf({ status, headers, body }: Reply): Outcome | undefined {
  if (headers.get("Item-Vault-Error") === "version_skew") return undefined;
  if (status === 507) return "refused"; // full (contract 4.3)
  if (status === 200 || status === 204) return "ok";
  if (status === 404 && (body.message as string).startsWith("item ")) return "not found";
  if (headers.get("Item-Vault-Error") === "version_not_found") return "version not found";
  if (status === 412) return "precondition failed";
  // A 503 without Retry-After leaves the outcome of the write unknown (contract 4.3, 10.15).
  if (status === 503) return headers.has("Retry-After") ? "refused" : "unknown";
  if (status === 409 && /took effect and was overtaken/.test(body.message)) return "overtaken";
  return undefined;
}
