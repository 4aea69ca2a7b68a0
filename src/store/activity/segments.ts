import { dayKey, type Keyring } from "../../crypto/keyring.ts";
import { NOWHERE, open, seal } from "../../crypto/seal.ts";
import { type Activity, type AdminResource, type ListedActivity, type Origin, UNKNOWN_ORIGIN } from "../../model/activity.ts";
import { firstIdAt, isId, timeOf, timePrefix } from "../../model/ids.ts";
import { defect, fail, ok, type Result } from "../../model/result.ts";
import { dayOf } from "../../model/time.ts";
import { isEntry } from "./entry-rows.ts";

/**
 * Segments store reads, denials and sign-ins (docs/design/log.md). A segment is a row of `log_segments` with entries of one log. Its text is only
 * appended to. It has one line for each hand-over, which is the part of a flush for that log, one cell of `CELLS` and one day (UTC):
 *
 *     {"rootKey": id, "entries": [[id, action, result, actor, item, version, resource], …], "sealed": text}
 *
 * The sealed text has the id, the origin and the ids of several Items of each entry. The key of a segment is a cell: the prefix of the ids of
 * all its entries. A cell that began on the day before has no entries of a day, so a segment has one day. A hand-over without room in its
 * cells is a separate segment under its first id.
 */

/** The digits of a cell: 5 hours, 17 minutes, 66 seconds or 4 seconds. The hyphen of an id counts. */
export const CELLS = [6, 7, 8, 10] as const;
const [LARGEST, , , SMALLEST] = CELLS;

/** Returns the least id of a cell, or an id. */
export const firstIdOf = (key: string): string => key + firstIdAt(0).slice(key.length);

/** Returns the largest cell that has an id, or a smaller cell. */
export const largestCell = (id: string): string => id.slice(0, LARGEST);

/** Returns the smallest cell that has an id. */
export const smallestCell = (id: string): string => id.slice(0, SMALLEST);

/** Returns the day (UTC) of a segment, or of an entry. */
export const dayOfKey = (key: string): string => dayOf(timeOf(firstIdOf(key)));

/** SQL: true if the key of a segment has a time. The key of a damaged row may not: it belongs to no day, and blocks no other rows. */
export const HAS_CELL = `(length(id) >= ${LARGEST} AND substr(id, 1, ${LARGEST}) NOT GLOB '*[^0-9a-f]*')`;

/** Returns true if an id belongs under the key of a segment. */
const isUnder = (key: string, id: string): boolean => smallestCell(id).startsWith(key.slice(0, SMALLEST)) && id >= key;

/** The resources of entries of the admin's log that callers other than the admin cause without permission. */
const SIGN_IN: AdminResource = "SESSION";
/** The resource of exchanges of workload tokens. */
const EXCHANGE: AdminResource = "EXCHANGE";

/** Returns true if an entry is a read, a denial or a sign-in. A token without vaults can repeat a sign-in as often as a read. */
export const isCounted = ({ action, result, resource }: Pick<Activity, "action" | "result" | "resource">): boolean =>
  action === "READ" || result === "DENY" || resource === SIGN_IN || resource === EXCHANGE;

/**
 * Returns the segment logs of a log. Denials and sign-ins of the admin's log have their own logs, because callers other than the admin
 * cause them: they push out only entries of their own kind.
 */
export const segmentLogsOf = (log: string): readonly string[] =>
  log === NOWHERE ? [NOWHERE, `${NOWHERE}:denials`, `${NOWHERE}:sign-ins`, `${NOWHERE}:exchanges`] : [log];

/** Returns SQL of the log of a segment. `expression` is the expression of its `vault_id`. */
export const logOf = (expression: string): string => `substr(${expression}, 1, 36)`;

/** The log of segments of an entry; `undefined`: no log has such an entry. */
function segmentLogOf({ log, result, resource }: Pick<Activity, "log" | "result" | "resource">): string | undefined {
  if (log !== NOWHERE) return log;
  // Each entry of the admin's log has a resource. An entry without one belongs to a token that named a vault with this log's id.
  if (resource == null) return undefined;
  const [reads, denials, signIns, exchanges] = segmentLogsOf(log);
  if (resource === EXCHANGE) return exchanges;
  if (result === "DENY") return denials;
  if (resource === SIGN_IN) return signIns;
  return reads;
}

/** The entries that one flush hands over to one log, cell and day. */
export interface HandOver {
  /** The segment log. */
  readonly log: string;
  /** The first id, which is also that of the hand-over. */
  readonly first: string;
  /** A text that sorts before all ids of its day, and after all earlier cells. */
  readonly day: string;
  readonly entries: number;
  readonly line: string;
}

/** Returns the common values of the entries of a hand-over: the log of segments, the day and the smallest cell. */
const groupOf = (entry: Pick<Activity, "id" | "log" | "result" | "resource">): string =>
  [segmentLogOf(entry) ?? "", dayOfKey(entry.id), smallestCell(entry.id)].join(" ");

type Columns = Pick<Activity, "id" | "action" | "result" | "actor" | "item" | "version" | "resource">;
const COLUMNS = ["id", "action", "result", "actor", "item", "version", "resource"] as const;

interface Line {
  readonly rootKey: string;
  readonly entries: readonly (readonly unknown[])[];
  readonly sealed: string;
}

/** An entry of a segment as it is stored. */
export interface SegmentEntry extends Columns {
  readonly log: string;
  /** The line with the remaining values. Undefined: the line is unreadable. */
  readonly line: Line | undefined;
  readonly index: number;
}

/** Most entries have neither a token nor a reason of their own: these are omitted, because the lines take most of the database. */
function textsOf({ id, origin: { userAgent, requestIp, token }, items, reason }: Activity): LineTexts[number] {
  return token === undefined && reason === undefined
    ? [id, userAgent, requestIp, items]
    : [id, userAgent, requestIp, items, token, reason];
}

/** Makes the hand-overs of entries. Entries that no log has are left out. */
export async function sealHandOvers(keyring: Keyring, entries: readonly Activity[]): Promise<HandOver[]> {
  const sealable = [...Map.groupBy(entries, groupOf)].filter(([group]) => !group.startsWith(" "));
  return Promise.all(sealable.map(([group, entriesOfGroup]) => sealHandOver(keyring, group.split(" ")[0]!, entriesOfGroup)));
}

async function sealHandOver({ active }: Keyring, log: string, unordered: readonly Activity[]): Promise<HandOver> {
  const entries = unordered.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const first = entries[0]!.id;
  const sealed = await seal(
    await dayKey(active, timeOf(first)),
    associatedData(log, first, active.id),
    JSON.stringify(entries.map(textsOf)),
  );
  const columns = entries.map((entry) => COLUMNS.map((name) => entry[name] ?? null));
  const line: Line = { rootKey: active.id, entries: columns, sealed };
  return handOverOf(log, entries, JSON.stringify(line));
}

/** Returns the hand-over of a line. Its entries are in the order of their ids. */
function handOverOf(log: string, entries: readonly Pick<Activity, "id">[], line: string): HandOver {
  const first = entries[0]!.id;
  return { log, first, day: timePrefix(Date.parse(dayOfKey(first))), entries: entries.length, line };
}

/**
 * Parses a hand-over that the queue has delivered. Throws unless it is one that `sealHandOvers` makes: its line opens under a known root
 * key, and all entries are of one group.
 */
export async function parseHandOver(keyring: Keyring, { log, line }: HandOver): Promise<HandOver> {
  const entries = entriesOf({ log, id: "", lines: line });
  const [start] = entries;
  const listed = await Promise.all(entries.map((entry) => listSegmentEntry(keyring, entry)));
  const isMade =
    JSON.stringify(start?.line) === line &&
    keyring.keys.has(start!.line!.rootKey) &&
    listed.every((entry) => !("broken" in entry)) &&
    segmentLogOf(start!) === log &&
    entries.every(
      (entry, index) =>
        isCounted(entry) && groupOf(entry) === groupOf(start!) && (index === 0 || entry.id > entries[index - 1]!.id),
    );
  if (!isMade) throw defect("a hand-over that no flush has made");
  return handOverOf(log, entries, line);
}

const associatedData = (log: string, handOver: string, key: string) =>
  ({ kind: "handOver", vault: log.slice(0, NOWHERE.length), record: handOver, version: 0, key }) as const;

export interface Segment {
  /** The segment log. */
  readonly log: string;
  readonly id: string;
  readonly lines: string;
}

/**
 * The lines of a text. One damaged character affects one line: if the end of a line is damaged, the beginning of the next one shows where
 * it is.
 */
const splitLines = (lines: string): string[] => lines.split(/\n|(?=\{"rootKey":)/).filter((line) => line !== "");

function parseLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Line;
    const isSound =
      typeof line.sealed === "string" &&
      Array.isArray(line.entries) &&
      line.entries.length > 0 &&
      line.entries.every((entry) => Array.isArray(entry) && typeof entry[0] === "string");
    return isSound ? line : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the entries of a segment. An unreadable line, or an entry that does not belong under the key, gives one entry. Its id is the first id
 * of the key with the place of the line.
 */
export function entriesOf({ log, id: key, lines }: Segment): SegmentEntry[] {
  const vault = log.slice(0, NOWHERE.length);
  return splitLines(lines).flatMap((text, number): SegmentEntry[] => {
    const line = parseLine(text);
    const broken = { ...BROKEN_COLUMNS, log: vault, id: `${firstIdOf(key)}.${key.length}.${number}`, line: undefined, index: 0 };
    if (!line?.entries.every(([id]) => isUnder(key, String(id)))) return [broken];
    return line.entries.map((values, index) => {
      const columns = Object.fromEntries(COLUMNS.map((name, column) => [name, values[column] ?? null])) as unknown as Columns;
      return Object.assign(columns, { log: vault, line, index });
    });
  });
}

const BROKEN_COLUMNS = { action: "READ", result: "SUCCESS", actor: "", item: null, version: null, resource: null } as const;

/** The sealed values of each entry. An absent value is NULL, or left out if all later values are absent too. */
type LineTexts = readonly (readonly [
  id: string,
  userAgent: string,
  requestIp: string,
  items?: readonly string[] | null,
  token?: string | null,
  reason?: string | null,
])[];

const textsOfLines = new WeakMap<Line, Promise<Result<LineTexts | undefined>>>();

/** Decrypts a line. Returns undefined if its root key is missing. Fails with `integrity`. */
async function openLine({ keys }: Keyring, log: string, line: Line): Promise<Result<LineTexts | undefined>> {
  const root = keys.get(line.rootKey);
  if (!root) return ok(undefined);
  const first = String(line.entries[0]![0]);
  if (!isId(first)) return fail("integrity");
  const text = await open(await dayKey(root, timeOf(first)), associatedData(log, first, root.id), line.sealed);
  return text.ok ? ok(JSON.parse(text.value) as LineTexts) : text;
}

/** Decrypts an entry, and its line once. If the root key is missing, the origin is unknown (contract 20.6). */
export async function listSegmentEntry(keyring: Keyring, { line, index, ...columns }: SegmentEntry): Promise<ListedActivity> {
  const broken = { id: columns.id, log: columns.log, broken: "integrity" } as const;
  if (!line || !isEntry(columns)) return broken;
  let opening = textsOfLines.get(line);
  if (!opening) textsOfLines.set(line, (opening = openLine(keyring, columns.log, line)));
  const opened = await opening;
  if (!opened.ok) return broken;
  if (!opened.value) return { ...columns, origin: UNKNOWN_ORIGIN };
  const [id, userAgent, requestIp, items, token, reason] = opened.value[index] ?? [];
  if (id !== columns.id) return broken;
  const origin: Origin = { userAgent: userAgent!, requestIp: requestIp!, token: token ?? undefined };
  return { ...columns, items: items ?? undefined, reason: reason ?? undefined, origin };
}
