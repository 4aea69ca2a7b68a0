import { callObject, type Tried, tryObject } from "../../../src/durable-object-calls.ts";
import { uploadContent, type UploadPorts } from "../../../src/http/endpoints/file-writes.ts";
import type { Answer, Change, NewContent, Operation } from "../../../src/model/operation.ts";
import { ok, type Result } from "../../../src/model/result.ts";
import type { CommitPorts } from "../../../src/vault/ports.ts";
import { createCoordinator, type ModelCoordinator } from "./coordinator.ts";
import { createFaults, type Fault, never, RESET } from "./faults.ts";
import { operationOf } from "./operations.ts";
import { createStore, FILE, ITEM, tagsOf, VAULT } from "./store.ts";
import type { Turns } from "./turns.ts";

/** Concurrent writes to the Files of one Item, through the upload that ships (http/endpoints/file-writes.ts). */

/**
 * `upload-next` is an upload whose If-Match names the version that the next write makes. All uploads `upload-keyed` repeat one
 * request with its Idempotency-Key.
 */
export type FileWrite = "upload" | "upload-next" | "upload-keyed" | "replace" | "delete-file" | "delete-item";

export interface UploadScenario {
  readonly writes: readonly FileWrite[];
  readonly coordinators: number;
  /** The awaits whose orders are explored. */
  readonly awaits: readonly string[];
  readonly faults: number;
  readonly kinds: readonly Fault[];
  /**
   * The Worker loses the coordinator of its first try, which goes on, and sends the same operation to the next one. A
   * coordinator of the previous instance may live for up to 30 s.
   */
  readonly reset?: boolean;
  /** A bug of the coordinators: see ModelOptions. */
  readonly deleteAny?: boolean;
  /** Plants a bug in the ports of the commit loop, or of the upload. */
  readonly plantCommit?: (ports: CommitPorts) => CommitPorts;
  readonly plantUpload?: (ports: UploadPorts) => UploadPorts;
}

/** The state after the last write, and after the alarms. */
export interface UploadOutcome {
  /** Generations that a row references and R2 does not have. */
  readonly missing: readonly string[];
  /** Generations in R2 that no row references. */
  readonly orphans: readonly string[];
  /** Generations of acknowledged uploads that no row references, although nothing replaced or deleted them. */
  readonly lost: readonly string[];
}

export async function playUploads(free: Turns, scenario: UploadScenario): Promise<UploadOutcome> {
  const { plantUpload = (ports) => ports, plantCommit: plant, deleteAny } = scenario;
  const turns: Turns = { ...free, wait: async (what) => (scenario.awaits.includes(what) ? free.wait(what) : undefined) };
  const store = createStore();
  const faults = createFaults(turns, scenario.faults, scenario.kinds);
  const effects: Promise<void>[] = [];
  const connect = Array.from({ length: scenario.coordinators }, () =>
    createCoordinator({ store, turns, faults, plant, deleteAny, late: (effect) => void effects.push(effect) }),
  );
  const acknowledged = new Set<string>();

  const connectTo = (to: number) => connect[to % scenario.coordinators]!();

  const write = (change: Change, to: number) => {
    const operation = operationOf(change);
    return callObject(
      () => connectTo(to),
      "uncertain",
      (coordinator) => coordinator.write(operation),
    );
  };

  const writeRow = (change: Change, n: number): Promise<Tried<Answer>> => {
    const to = n % scenario.coordinators;
    const keyed = scenario.writes[n] === "upload-keyed";
    const operation = operationOf(change, keyed ? { key: "key", request: "same" } : undefined);
    let lost = false;
    const connectNext = () => {
      if (!scenario.reset || lost) return connectTo(lost ? to + 1 : to);
      lost = true;
      return losing(connectTo(to), effects);
    };
    return tryObject(connectNext, "uncertain", (coordinator) => coordinator.write(operation));
  };

  /** A step of a Worker, which may end in the middle of the request. */
  const uploadOne = async (n: number, changeFor: (content: NewContent) => Change, file: string): Promise<void> => {
    const crash = Promise.withResolvers<void>();
    const generation = `generation ${n}`;
    const to = n % scenario.coordinators;
    const step = async (what: string): Promise<void> => {
      await turns.wait(what);
      if (!faults.draw(["crash"])) return;
      crash.resolve();
      await never();
    };
    const ports: UploadPorts = {
      record: () =>
        callObject(
          () => connectTo(to),
          "unavailable",
          async (coordinator): Promise<Result<undefined>> => {
            await coordinator.expect(generation);
            return ok(undefined);
          },
        ),
      async receive() {
        await step("content");
        store.contents.add(generation);
        await step("stored");
        return ok({ size: 1, hash: undefined });
      },
      write: (content) => writeRow(changeFor(content), n),
      async discard() {
        await step("discard");
        store.contents.delete(generation);
      },
    };
    const upload = uploadContent({ vault: VAULT, item: ITEM, file, generation }, new Uint8Array(32), plantUpload(ports));
    const answer = await Promise.race([upload, crash.promise]);
    if (answer?.ok) acknowledged.add(generation);
  };

  const start = (kind: FileWrite, n: number): Promise<unknown> => {
    if (kind === "upload" || kind === "upload-keyed")
      return uploadOne(n, (file) => ({ kind: "add-file", item: ITEM, file: { ...file, name: "" } }), `file ${n}`);
    if (kind === "upload-next") {
      const ifMatch = tagsOf(2);
      return uploadOne(n, (file) => ({ kind: "add-file", item: ITEM, file: { ...file, name: "" }, ifMatch }), `file ${n}`);
    }
    if (kind === "replace") return uploadOne(n, (file) => ({ kind: "replace-content", item: ITEM, file }), FILE.id);
    if (kind === "delete-file") return write({ kind: "delete-file", item: ITEM, file: FILE.id }, n % scenario.coordinators);
    return write({ kind: "delete-item", item: ITEM }, n % scenario.coordinators);
  };
  await Promise.all(scenario.writes.map(start));
  await Promise.all(effects);

  const referenced = new Set(store.files().map(({ generation }) => generation));
  // The alarms: a pending content that no row references is deleted.
  for (const generation of store.pending.keys()) if (!referenced.has(generation)) store.contents.delete(generation);
  // A single upload of a new File that was acknowledged stays, unless the Item was deleted.
  const kept = (generation: string) => scenario.writes[Number(generation.split(" ")[1])] === "upload";
  const expected = scenario.writes.includes("delete-item") ? [] : [...acknowledged].filter(kept);
  return {
    missing: [...referenced].filter((generation) => !store.contents.has(generation)),
    orphans: [...store.contents].filter((generation) => !referenced.has(generation)),
    lost: expected.filter((generation) => !referenced.has(generation)),
  };
}

/** A coordinator that goes on after its caller lost it. In: `effects` receives its work. */
const losing = (coordinator: ModelCoordinator, effects: Promise<void>[]): Pick<ModelCoordinator, "write"> => ({
  write(operation: Operation) {
    const result = coordinator.write(operation);
    effects.push(result.then(() => undefined).catch(() => undefined));
    return Promise.reject(RESET);
  },
});
