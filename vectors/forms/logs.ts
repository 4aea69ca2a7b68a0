import type { Keyring } from "../../src/crypto/keyring.ts";
import { NOWHERE } from "../../src/crypto/seal.ts";
import type { Activity } from "../../src/model/activity.ts";
import { parseArchive, segmentOf } from "../../src/store/activity/archive.ts";
import { listActivity, sealActivity } from "../../src/store/activity/entry-rows.ts";
import { entriesOf, listSegmentEntry, sealHandOvers } from "../../src/store/activity/segments.ts";
import { ENTRIES, type Example, FILE, form, ITEM, keyringOf, ROOT_KEYS, TOKEN, VAULT, valueOf } from "./example.ts";

/** Objects of the archive of the activity log. Rows and segments in D1 and in backups have the same texts. */

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
  const segment = segmentOf(object, text);
  const entries = segment
    ? entriesOf(segment).map((entry) => listSegmentEntry(keyring, entry))
    : valueOf(parseArchive(text)).map((row) => listActivity(keyring, row));
  return JSON.parse(JSON.stringify(await Promise.all(entries))) as unknown;
}

const archiveExample = (object: string, textOf: (keyring: Keyring) => Promise<string>) => async (): Promise<Archive> => {
  const made = { rootKeys: ROOT_KEYS, object, text: await textOf(await keyringOf(ROOT_KEYS)) };
  return { ...made, opens: await readArchive(made) };
};

/** A flush of one entry, and one of two. */
const handOvers = async (keyring: Keyring, log: string, more: Partial<Activity>): Promise<string> => {
  const [one, two, three] = ENTRIES;
  const entry = (id: string, also: Partial<Activity> = {}) => entryOf(id, { log, ...more, ...also });
  const lines = [
    ...(await sealHandOvers(keyring, [entry(one)])),
    ...(await sealHandOvers(keyring, [entry(two), entry(three, { items: [ITEM, FILE] })])),
  ];
  return lines.map(({ line }) => line).join("\n");
};

export const ACTIVITY_ARCHIVE = form<Archive>({
  examples: {
    "rows of writes": archiveExample("log/2025-11-26/000000", async (keyring) => {
      const written = ENTRIES.map((id, index) =>
        entryOf(id, { resource: null, sequence: 7 + index, at: 1_764_150_000_000, event: null }),
      );
      return JSON.stringify(await Promise.all(written.map((entry) => sealActivity({ keyring }, entry))));
    }),
    "a segment of a vault": archiveExample(`log/2025-11-26/s/${VAULT}/${ENTRIES[0]}`, (keyring) =>
      handOvers(keyring, VAULT, { action: "READ", version: null }),
    ),
    "denials of the admin": archiveExample(`log/2025-11-26/s/${NOWHERE}:denials/${ENTRIES[0]}`, (keyring) =>
      handOvers(keyring, NOWHERE, { action: "READ", result: "DENY", version: null, resource: "TOKEN", reason: "expired" }),
    ),
  },
  read: readArchive,
});
