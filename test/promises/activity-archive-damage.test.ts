import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { drainQueue, entriesOfPages, runCron, untilLogged } from "../support/activity.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { sample } from "../support/runs.ts";
import { admin, freshVault, LOGIN } from "../support/service.ts";

/**
 * Objects of the archive of the log that somebody has changed in R2: the export names what it cannot read, and shows everything else (contract
 * 13.27, 23.5).
 */

interface Entry {
  readonly requestId: string;
  readonly log: string;
  readonly broken?: string;
  readonly actor?: { readonly originUnknown?: true };
}

/** What the archive has: the entries before the days that are still in D1. */
const exported = (query = ""): Promise<Entry[]> =>
  entriesOfPages(admin, `/v1/admin/activity/export?limit=1000&until=${until}${query}`);

/** The objects of two days, with writes and reads of a vault each, and what the export shows of them. */
const objects = new Map<string, string>();
let vaults: readonly string[];
let until: string;
let sound: readonly Entry[];

beforeAll(async () => {
  await drainQueue();
  const made: string[] = [];
  for (let day = 0; day < 2; day++) {
    const { vault, call, items } = await freshVault();
    await call("POST", items, { body: LOGIN });
    await call("GET", items);
    await untilLogged();
    made.push(vault);
    advanceClock(DAY);
  }
  vaults = made;
  until = new Date().toISOString();
  advanceClock(40 * DAY);
  await runCron();
  for (const { key } of (await env.FILES.list({ prefix: "log/" })).objects)
    objects.set(key, await (await env.FILES.get(key))!.text());
  sound = await exported();
});

afterAll(() => void vi.useRealTimers());

/** The keys of the objects of rows, and of those of segments, in the order of the days. */
const keysOf = { rows: () => keys(/\/part\/rows\//), segments: () => keys(/\/part\/copy\//) };
const keys = (form: RegExp): string[] => [...objects.keys()].filter((key) => form.test(key)).toSorted();
type Kind = keyof typeof keysOf;

/** Exports while an object has another text. */
async function exportWith(key: string, text: string, query = ""): Promise<Entry[]> {
  await env.FILES.put(key, text);
  try {
    return await exported(query);
  } finally {
    if (objects.has(key)) await env.FILES.put(key, objects.get(key)!);
    else await env.FILES.delete(key);
  }
}

const isNamed = ({ broken, actor }: Entry) => broken !== undefined || actor?.originUnknown === true;

/** What the admin does to a vault has an entry in two logs. */
const placeOf = ({ log, requestId }: Entry) => `${log} ${requestId}`;

/** Expects that the export names the change and shows what other objects have. In: the entries that it shows. */
function expectOnlyItself(entries: readonly Entry[], key: string): void {
  const others = sound.filter(({ requestId }) => !objects.get(key)!.includes(requestId));
  expect(others.length).toBeGreaterThan(0);
  for (const entry of others) expect(entries).toContainEqual(entry);
  expect(new Set(entries.map(placeOf)).size).toBe(entries.length);
  const places = new Set(sound.map(placeOf));
  expect(entries.filter((entry) => !isNamed(entry) && !places.has(placeOf(entry)))).toEqual([]);
}

/** The text of an object, changed. In: the other object of its kind. */
const CHANGES: Readonly<Record<string, (text: string, other: string) => string>> = {
  "is empty": () => "",
  "is no JSON": () => "no JSON",
  "is null": () => "null",
  "is an object": () => "{}",
  "is a list of null": () => "[null]",
  "is a list of texts": () => '["text", 7, [], {}]',
  "is that of another day and log": (_, other) => other,
  "has that of another day and log after its own": (text, other) => `${text.slice(0, -1)},${other.slice(1)}`,
  "has no first byte": (text) => text.slice(1),
  "has no last byte": (text) => text.slice(0, -1),
  "is cut off in the middle": (text) => text.slice(0, text.length / 2),
};

describe.each(["rows", "segments"] as const)("an object of %s in the archive", (kind: Kind) => {
  it.each(Object.entries(CHANGES))("is named by the export and costs only itself when it %s", async (_, change) => {
    const [key, other] = keysOf[kind]() as [string, string];
    const changed = change(objects.get(key)!, objects.get(other)!);
    const entries = await exportWith(key, changed);
    expectOnlyItself(entries, key);
    expect(entries.some(isNamed)).toBe(true);
  });

  it("costs only itself with a damaged byte at any place", async () => {
    const [key] = keysOf[kind]() as [string];
    const text = objects.get(key)!;
    for (const place of sample(
      [...text].map((_, index) => index),
      23,
    ))
      expectOnlyItself(await exportWith(key, `${text.slice(0, place)}~${text.slice(place + 1)}`), key);
  });

  it("is named in the export of a vault too when it cannot be read", async () => {
    const [key] = keysOf[kind]() as [string];
    const entries = await exportWith(key, "no JSON", `&vault=${vaults[0]}`);
    expect(entries.filter(isNamed)).toMatchObject([{ log: vaults[0], broken: "integrity" }]);
  });
});

it.each(["another log", "a text that is no log", "another day"])(
  "a segment under the key of %s is not shown as one of it",
  async (place) => {
    const [key, other] = keysOf.segments() as [string, string];
    const [, day, , , log, id, lastLog, lastId, hash] = key.split("/") as [string, string, ...string[]];
    const forged: Readonly<Record<string, string>> = {
      "another log": `log/${day}/part/copy/${vaults[1]}/${id}/${vaults[1]}/${lastId}/${hash}`,
      "a text that is no log": `log/${day}/part/copy/log/${id}/log/${lastId}/${hash}`,
      "another day": `log/${other.split("/")[1]}/part/copy/${log}/${id}/${lastLog}/${lastId}/${hash}`,
    };
    const entries = await exportWith(forged[place]!, objects.get(key)!);
    for (const entry of sound) expect(entries).toContainEqual(entry);
    const places = new Set(sound.map(placeOf));
    const added = entries.filter((entry) => !places.has(placeOf(entry)));
    expect(added.length).toBeGreaterThan(0);
    expect(added.filter((entry) => !isNamed(entry))).toEqual([]);
    expect(entries).toHaveLength(sound.length + added.length);
  },
);
