/**
 * The synchronous CPU time of a coordinator for its worst requests, measured in Node, because the clock of workerd stands still
 * in synchronous code. It runs the functions that the coordinator runs between two awaits, and prints the results as JSON.
 */
import { parseItem, parsePatch } from "../../src/model/item-input.ts";
import type { Item } from "../../src/model/item.ts";
import { type Change, type Operation, OPERATION_FORMAT } from "../../src/model/operation.ts";
import { NOTHING_STORED } from "../../src/model/stored.ts";
import type { Vault } from "../../src/model/vault.ts";
import type { Snapshot } from "../../src/store/commit/snapshot.ts";
import { applyGroup } from "../../src/vault/apply.ts";
import { largeItem, manyFields, manyOperations } from "../../test/support/worst/bodies.ts";

/** This file is checked with the types of workerd, which its imports need. */
declare const process: { threadCpuUsage(): { user: number }; stdout: { write(text: string): void } };

/** Milliseconds of CPU of one request, and of a group of 32. */
interface CpuResult {
  readonly name: string;
  readonly one: number;
  readonly group: number;
}

const VAULT = "00000000-0000-4000-8000-000000000001";
const ITEM = "00000000-0000-4000-8000-000000000002";
const TOKEN = "00000000-0000-4000-8000-000000000003";
const GROUP = 32;
const REPETITIONS = 15;

/** As wrangler.toml sets them. */
const retention = { versionsKept: 10, deletedRetention: 1 };

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const onDefect = (error: unknown) => {
  throw error;
};

const emptyVault: Vault = {
  id: VAULT,
  name: "",
  description: "",
  attributeVersion: 1,
  contentVersion: 0,
  items: 0,
  created: 0,
  deleted: 0,
  restored: 0,
  destroyed: 0,
  files: 0,
  fileBytes: 0,
  sealedBytes: 0,
  quota: { items: null, bytes: null, fileBytes: null },
  createdAt: 0,
  updatedAt: 0,
  dataKeyId: VAULT,
  keyNumber: 1,
  earlierKeys: 0,
};

function snapshotOf(items: readonly Item[]): Snapshot {
  return {
    opened: { vault: emptyVault },
    everExisted: true,
    tokens: new Map([[TOKEN, ""]]),
    items: new Map(items.map((item) => [item.id, { ok: true, value: item }])),
    versions: new Map(),
    stored: new Map(items.map(({ id, version }) => [id, { ...NOTHING_STORED, current: { version, bytes: 0 } }])),
    applied: new Map(),
    records: new Map(),
  } as unknown as Snapshot;
}

const operation = (change: Change, index: number): Operation => ({
  id: `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`,
  vault: VAULT,
  format: OPERATION_FORMAT,
  actor: TOKEN,
  token: { id: TOKEN, hash: "" },
  size: 0,
  origin: { userAgent: "", requestIp: "" },
  change,
});

/** Throws when an operation was refused: a refused operation costs less. */
function apply(snapshot: Snapshot, changes: readonly Change[]): Item | undefined {
  const context = { now: 0, random, attempted: new Map(), onDefect, growth: () => "bounded" as const, retention };
  const { answers } = applyGroup(VAULT, snapshot, changes.map(operation), context);
  const refused = answers.find((answer) => !answer.ok);
  if (refused && !refused.ok) throw new Error(JSON.stringify(refused.failure));
  const [first] = answers;
  return first?.ok ? first.value.item : undefined;
}

function measure(name: string, snapshot: Snapshot, changes: (index: number) => Change): CpuResult {
  const group = Array.from({ length: GROUP }, (_, index) => changes(index));
  const timeOf = (run: readonly Change[]) => {
    const times = Array.from({ length: REPETITIONS }, () => {
      const before = process.threadCpuUsage().user;
      apply(snapshot, run);
      return (process.threadCpuUsage().user - before) / 1_000;
    });
    return times.slice(1).toSorted((a, b) => a - b)[Math.floor(REPETITIONS / 2)]!; // the first run compiles
  };
  return { name, one: timeOf(group.slice(0, 1)), group: timeOf(group) };
}

const create = (body: object, item: string): Change => {
  const input = parseItem(body, VAULT, "create");
  if (!input.ok) throw new Error("the body is refused");
  return { kind: "create-item", item, input: input.value };
};
const patch = (body: readonly object[]): Change => {
  const edits = parsePatch(body);
  if (!edits.ok) throw new Error("the body is refused");
  return { kind: "patch-item", item: ITEM, edits: edits.value };
};

const idOf = (index: number) => `00000000-0000-4000-8000-${String(100 + index).padStart(12, "0")}`;

function measureAll(): CpuResult[] {
  const itemOf = (body: object) => apply(snapshotOf([]), [create(body, ITEM)])!;
  const [large, fields] = [snapshotOf([itemOf(largeItem())]), snapshotOf([itemOf(manyFields)])];
  return [
    measure("create an Item of 512 KiB, 64 values generated", snapshotOf([]), (index) => create(largeItem(), idOf(index))),
    measure("PATCH: 1,000 operations on 1,000 fields, 64 of which generate a value", fields, () => patch(manyOperations)),
    measure("PATCH: 50 bytes on an Item of 512 KiB", large, () => patch([{ op: "replace", path: "/favorite", value: true }])),
  ];
}

process.stdout.write(JSON.stringify(measureAll()));
