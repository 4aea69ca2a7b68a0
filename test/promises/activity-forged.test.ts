import { beforeAll, describe, expect, it } from "vitest";
import { NOWHERE } from "../../src/crypto/seal.ts";
import type { ActivityRow } from "../../src/store/activity/entry-rows.ts";
import type { FlushMessage } from "../../src/store/activity/flush.ts";
import type { HandOver } from "../../src/store/activity/segments.ts";
import wrangler from "../../wrangler.toml?raw";
import { deliverMessages, entryOf, messageOf, pagesOf } from "../support/activity.ts";
import { admin, freshVault } from "../support/service.ts";

/** Messages on the queue of the log that no flush has made: whoever writes to the queue does not write the log. */

let vault: string;
let other: string;
beforeAll(async () => {
  [{ vault }, { vault: other }] = [await freshVault(), await freshVault()];
});

const read = () => messageOf([entryOf(vault)]);
const update = () => messageOf([entryOf(NOWHERE, { action: "UPDATE", resource: "VAULT", item: vault })]);

type Json = Record<string, any>;
/** A message with another value of its hand-over, or of its row. */
const handOver = (change: (one: HandOver) => unknown) => async () => ({
  rows: [],
  handOvers: [change((await read()).handOvers[0]!)],
});
const row = (change: (one: ActivityRow) => unknown) => async () => ({ handOvers: [], rows: [change((await update()).rows[0]!)] });
const line = (change: (one: Json) => unknown) =>
  handOver((one) => ({ ...one, line: JSON.stringify(change(JSON.parse(one.line) as Json)) }));
const column = (place: number, value: unknown) =>
  line(({ entries: [entry], ...rest }) => ({ ...rest, entries: [(entry as unknown[]).with(place, value)] }));

/** Not JSON alone, but what the queue accepts. */
const SHAPES = [
  null,
  undefined,
  "text",
  7,
  true,
  [],
  {},
  { handOvers: null, rows: [] },
  { handOvers: [], rows: "" },
  { rows: [] },
];
const LOGS = {
  unknown: () => crypto.randomUUID(),
  foreign: () => other,
  admin: () => NOWHERE,
  denials: () => `${NOWHERE}:denials`,
};
const NO_TEXTS = [null, 7, "", "plain text", "{}", "[]", [], {}];
const COLUMNS = ["id", "action", "result", "actor", "item", "version", "resource"];
const ROW_COLUMNS = ["log", "id", "action", "result", "actor", "item", "version", "root_key_id", "sealed", "resource"] as const;

const FORGED: readonly (readonly [string, () => Promise<unknown>])[] = [
  ...SHAPES.map((shape) => [`is ${JSON.stringify(shape)}`, async () => shape] as const),
  ...NO_TEXTS.map((value) => [`has ${JSON.stringify(value)} as a hand-over`, handOver(() => value)] as const),
  ...NO_TEXTS.map((value) => [`has ${JSON.stringify(value)} as a row`, row(() => value)] as const),
  ...NO_TEXTS.map((text) => [`has ${JSON.stringify(text)} as a line`, handOver((one) => ({ ...one, line: text }))] as const),
  ...Object.entries(LOGS).flatMap(([name, log]) => [
    [`has the hand-over of another log: ${name}`, handOver((one) => ({ ...one, log: log() }))] as const,
    [`has the row of another log: ${name}`, row((one) => ({ ...one, log: name === "admin" ? other : log() }))] as const,
  ]),
  ...COLUMNS.map((name, place) => [`has an entry with an unknown ${name}`, column(place, "unknown")] as const),
  ...ROW_COLUMNS.map((name) => [`has a row with an unknown ${name}`, row((one) => ({ ...one, [name]: "unknown" }))] as const),
  ["has an entry of another id", column(0, crypto.randomUUID())],
  ["has a write in a hand-over", column(1, "UPDATE")],
  ["has an entry in the clear", line((one) => ({ ...one, sealed: JSON.stringify([[one["entries"][0][0], "curl", "::1"]]) }))],
  ["has a line under an unknown root key", line((one) => ({ ...one, rootKey: "unknown" }))],
  ["has an entry twice", line((one) => ({ ...one, entries: [one["entries"][0], one["entries"][0]] }))],
  ["has a line twice", handOver((one) => ({ ...one, line: `${one.line}\n${one.line}` }))],
  ["has a line with spaces", handOver((one) => ({ ...one, line: one.line.replace(":[[", ": [[") }))],
  ["has 100 KB in a column", column(3, "x".repeat(100_000))],
  ["has 100 KB in place of the sealed text", line((one) => ({ ...one, sealed: "A".repeat(100_000) }))],
  ["has 100 KB of entries", line((one) => ({ ...one, entries: Array.from({ length: 800 }, () => one["entries"][0]) }))],
  ["has 100 KB in a row", row((one) => ({ ...one, sealed: "A".repeat(100_000) }))],
];

const idsOf = ({ handOvers, rows }: FlushMessage) => [...handOvers.map(({ first }) => first), ...rows.map(({ id }) => id)];
const exported = () => pagesOf(admin, "/v1/admin/activity/export?limit=1000");

describe("a message on the queue that no flush has made", () => {
  it.each(FORGED)("is not in the log, and the others of its batch are, when it %s", async (_, forge) => {
    const sound = [await read(), await update()] as const;
    const before = new Set(await exported());
    const acknowledged: FlushMessage[] = [];
    const batch = [sound[0], (await forge()) as FlushMessage, sound[1]];
    // What is said differs: a shape that is none fails where it is read.
    await expect(deliverMessages(batch, {}, (body) => acknowledged.push(body))).rejects.toBeInstanceOf(Error);
    expect(acknowledged).toEqual(sound);
    const added = (await exported()).filter((id) => !before.has(id));
    // The requests of the export itself have no entry (contract 23.2).
    expect(added.toSorted()).toEqual(sound.flatMap(idsOf).toSorted());
  });

  it("tells nothing of a hand-over but its log and its line: the rest follows from the line", async () => {
    const sound = await read();
    const [made] = sound.handOvers;
    const last = "ffffffff-ffff-7fff-bfff-ffffffffffff";
    const changed = { ...made!, first: last, entries: 1_000_000 };
    await deliverMessages([{ rows: [], handOvers: [changed] }]);
    await deliverMessages([sound]);
    expect((await exported()).filter((id) => id === made!.first)).toHaveLength(1);
  });

  it("is delivered a limited number of times", () => {
    expect(Number(/^max_retries = (\d+)/m.exec(wrangler)![1])).toBeLessThanOrEqual(100);
  });
});
