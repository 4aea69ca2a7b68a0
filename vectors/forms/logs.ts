import type { Keyring } from "../../src/crypto/keyring.ts";
import { NOWHERE } from "../../src/crypto/seal.ts";
import type { Activity } from "../../src/model/activity.ts";
import { objectOf, readObject } from "../../src/store/activity/archive.ts";
import { sealActivity } from "../../src/store/activity/entry-rows.ts";
import { listStored } from "../../src/store/activity/page.ts";
import { largestCell, sealHandOvers } from "../../src/store/activity/segments.ts";
import { ENTRIES, type Example, FILE, form, ITEM, keyringOf, ROOT_KEYS, TOKEN, VAULT } from "./example.ts";

/** Objects of the archive of the activity log. Rows and segments in D1 have the same texts. */

interface Archive extends Example {
  readonly rootKeys: string;
  readonly object: string;
  readonly text: string;
}

const entryOf = (id: string, more: Partial<Activity>): Activity => ({
  id,
  log: VAULT,
  action: "UPDATE",
  result: "SUCCESS",
  actor: TOKEN,
  item: ITEM,
  version: 3,
  origin: { userAgent: "a program/1.0", requestIp: "192.0.2.1" },
  ...more,
});

async function readArchive({ rootKeys, object, text }: Omit<Archive, "opens">) {
  const keyring = await keyringOf(rootKeys);
  const entries = readObject(objectOf({ key: object, size: text.length }), text);
  return JSON.parse(JSON.stringify(await Promise.all(entries.map(({ entry }) => listStored(keyring, entry))))) as unknown;
}

const archiveExample = (object: string, textOf: (keyring: Keyring) => Promise<unknown>) => async (): Promise<Archive> => {
  const made = { rootKeys: ROOT_KEYS, object, text: JSON.stringify(await textOf(await keyringOf(ROOT_KEYS))) };
  return { ...made, opens: await readArchive(made) };
};

const [FIRST, , LAST] = ENTRIES;
const HASH = "0".repeat(32);
const CELL = largestCell(FIRST);

/** A segment of a flush of one entry, and of one of two. */
const segmentOf = async (keyring: Keyring, log: string, more: Partial<Activity>) => {
  const [one, two, three] = ENTRIES;
  const entry = (id: string, also: Partial<Activity> = {}) => entryOf(id, { log, ...more, ...also });
  const handOvers = [
    ...(await sealHandOvers(keyring, [entry(one)])),
    ...(await sealHandOvers(keyring, [entry(two), entry(three, { items: [ITEM, FILE] })])),
  ];
  return { log: handOvers[0]!.log, id: CELL, lines: handOvers.map(({ line }) => line).join("\n") };
};

const READ = { action: "READ", version: null } as const;

export const ACTIVITY_ARCHIVE = form<Archive>({
  examples: {
    "rows of writes": archiveExample(`log/2025-11-26/part/rows/${VAULT}/${FIRST}/${VAULT}/${LAST}/${HASH}`, (keyring) => {
      const written = ENTRIES.map((id, index) =>
        entryOf(id, { resource: null, sequence: 7 + index, at: 1_764_150_000_000, event: null }),
      );
      return Promise.all(written.map((entry) => sealActivity({ keyring }, entry)));
    }),
    "segments of the admin and of a vault": archiveExample(
      `log/2025-11-26/part/copy/${NOWHERE}_denials/${CELL}/${VAULT}/${CELL}/${HASH}`,
      async (keyring) => [
        await segmentOf(keyring, NOWHERE, { ...READ, result: "DENY", resource: "TOKEN", reason: "expired" }),
        await segmentOf(keyring, VAULT, READ),
      ],
    ),
    "a hand-over that came late": archiveExample(`log/2025-11-26/late/${VAULT}/${FIRST}`, async (keyring) => {
      const [handOver] = await sealHandOvers(keyring, [entryOf(FIRST, READ)]);
      return [{ log: VAULT, id: FIRST, lines: handOver!.line }];
    }),
  },
  read: readArchive,
});
