import type { Answer, Operation } from "../../../src/model/operation.ts";
import { fail, ok, type Result } from "../../../src/model/result.ts";
import type { Commit } from "../../../src/store/commit/commit.ts";
import type { Snapshot } from "../../../src/store/commit/snapshot.ts";
import type { OpenVault } from "../../../src/store/vaults/rows.ts";
import { commitGroup } from "../../../src/vault/group.ts";
import { type CommitPorts, committedContents, SNAPSHOT_WRITES_MAX } from "../../../src/vault/ports.ts";
import { createQueue } from "../../../src/vault/queue.ts";
import { type Faults, never, RESET } from "./faults.ts";
import { type ModelStore, sealedEntry } from "./store.ts";
import type { Turns } from "./turns.ts";

/** A coordinator: the queue and the commit loop that ship (vault/queue.ts, vault/group.ts), over ports of the model. */

export interface ModelCoordinator {
  /** Rejects when the coordinator is evicted before it answers. */
  write(operation: Operation): Promise<Result<Answer>>;
  /** Records a content as pending. Rejects as `write`. */
  expect(generation: string): Promise<void>;
}

export interface ModelOptions {
  readonly store: ModelStore;
  readonly turns: Turns;
  readonly faults: Faults;
  /** Receives the D1 calls that take effect after their deadline. */
  readonly late: (effect: Promise<void>) => void;
  /** Changes the ports: a test that plants a bug. */
  readonly plant?: ((ports: CommitPorts) => CommitPorts) | undefined;
  /** A bug: a commit also deletes the record of a content that another commit has released meanwhile. */
  readonly deleteAny?: boolean | undefined;
}

/** Each group has a time of its own, so that its answers differ from those of every other group. */
let groups = 0;
let attempts = 0;

/** Out: a function that gives the coordinator; after an eviction it gives a new one. */
export function createCoordinator(options: ModelOptions): () => ModelCoordinator {
  let current: ModelCoordinator | undefined;
  const start = (): ModelCoordinator => startCoordinator(options, () => (current = undefined));
  return () => (current ??= start());
}

function startCoordinator(
  { store, turns, faults, late, plant = (ports) => ports, deleteAny = false }: ModelOptions,
  gone: () => void,
): ModelCoordinator {
  let cache: Snapshot | undefined;
  let evicted = false;
  /** Milliseconds that the commit loop has waited. */
  let waited = 0;
  const eviction = Promise.withResolvers<never>();
  eviction.promise.catch(() => undefined); // a coordinator without callers may be evicted too
  const evict = (): void => {
    evicted = true;
    gone();
    eviction.reject(RESET);
  };
  /** The code of an evicted coordinator stops at its next await. */
  const step = async (what: string): Promise<void> => {
    await turns.wait(what);
    if (evicted) await never();
  };
  /** A call of the coordinator's own storage. */
  const inStorage = async (what: string, generations: readonly string[], change: (one: string) => void): Promise<void> => {
    if (generations.length === 0) return;
    await step(what);
    const fault = faults.draw(["evict", "evict after"]);
    if (fault !== "evict") for (const generation of generations) change(generation);
    if (fault) evict();
    if (fault) await never();
  };
  const ports = (): CommitPorts => ({
    // What is cached of the kept versions is not part of the model.
    cached: async () => (store.retention.versionsKept > 0 ? undefined : cache && ok(cache)),
    async load() {
      await step("read");
      const snapshot = store.read();
      cache = withoutHistory(snapshot);
      return ok(snapshot);
    },
    recordReleased: ({ released }) =>
      inStorage("record", generationsOf(released), (one) => void store.pending.set(one, "released")),
    deleteCommitted: (commit) =>
      inStorage("committed", generationsOf(committedContents(commit)), (one) => {
        if (store.pending.get(one) === "upload" || deleteAny) store.pending.delete(one);
      }),
    async write(commit) {
      await step("write");
      const fault = faults.draw(["before", "after", "late", "evict", "evict after"]);
      const attempt = ++attempts;
      if (fault === "late") late(turns.wait("late").then(() => void store.write(commit, attempt)));
      const skipped = fault === "before" || fault === "late" || fault === "evict";
      const effect = skipped ? "unknown" : store.write(commit, attempt);
      if (fault === "evict" || fault === "evict after") evict();
      await step("answer");
      // A violated constraint is an answer, and a batch that the fence refused is known to have done nothing.
      const outcome = fault === "after" && effect === "committed" ? "unknown" : effect;
      cache = outcome === "committed" ? updated(cache, commit) : undefined;
      return { outcome, entries: new Map(commit.activities.map(({ id }) => [id, sealedEntry(id, attempt)])) };
    },
    // The waits after the last write are long: the loop then reads twice more before it gives up.
    async backOff(retry) {
      waited += retry > SNAPSHOT_WRITES_MAX ? 4_000 : 1;
    },
    databaseLevel: () => "ok",
    onDefect: (error) => {
      throw error;
    },
    now: ++groups,
    clock: () => waited,
    retention: store.retention,
    random: (size) => store.random(size),
  });
  const queue = createQueue<Operation, Result<Answer>>({
    commit: (group) => commitGroup(plant(ports()), group),
    busy: fail("busy"),
    failed: () => fail("internal"),
    waiting: 256,
    waitingBytes: 1_000,
    group: 32,
  });
  return {
    write: (operation) => Promise.race([queue.submit(operation), eviction.promise]),
    expect: (generation) => {
      const recorded = inStorage("record", [generation], (one) => {
        if (!store.pending.has(one)) store.pending.set(one, "upload");
      });
      return Promise.race([recorded, eviction.promise]);
    },
  };
}

const generationsOf = (contents: readonly { generation: string }[]): string[] => contents.map(({ generation }) => generation);

/** What the cache keeps of a snapshot: not the operations that took effect, and no idempotency records. */
const withoutHistory = (snapshot: Snapshot): Snapshot => ({ ...snapshot, applied: new Map(), records: new Map() });

/** The cache after a commit. The rows of an Item whose Files changed are not cached. */
function updated(cache: Snapshot | undefined, commit: Commit): Snapshot | undefined {
  if (!cache || commit.files.length > 0) return undefined;
  const items = new Map(cache.items);
  for (const { id, after } of commit.items) {
    if (after) items.set(id, ok(after));
    else items.delete(id);
  }
  return { ...cache, opened: { ...cache.opened, vault: commit.after } as OpenVault, items };
}
