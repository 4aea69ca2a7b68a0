import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  contentBytesOf,
  contentsOf,
  isInVersion,
  sealedBytesOf,
  type StoredFile,
  type StoredItem,
} from "../../src/model/stored.ts";
import { addVersion, deleteCurrent, dropVersion, keepNewest, restoreFiles } from "../../src/vault/versions.ts";
import { runs } from "../support/runs.ts";

/** Which rows of an Item are kept, against a model that holds each version with all of its Files (docs/design/writes.md). */

/** Each version as a whole: its Files by their ids, with the generations of their contents. */
interface Model {
  current: number | undefined;
  deleted: number | undefined;
  readonly versions: Map<number, ReadonlyMap<string, string>>;
}

const file = fc.constantFrom("a", "b", "c");
const step = fc.oneof(
  fc.record({ kind: fc.constant("write") }),
  fc.record({ kind: fc.constant("put"), file }),
  fc.record({ kind: fc.constant("remove"), file }),
  fc.record({ kind: fc.constant("restore"), back: fc.nat(5) }),
  fc.record({ kind: fc.constant("destroy"), back: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant("delete") }),
  fc.record({ kind: fc.constant("expire") }),
);
type Step = { kind: string; file?: string; back?: number };

const row = (id: string, generation: string, since: number): StoredFile => ({ id, generation, size: 1, since, bytes: 10 });

/** The Files of a version, by the rows. */
const filesIn = ({ files, ended }: StoredItem, version: number) =>
  [...files, ...ended].filter((one) => isInVersion(one, version)).map(({ id, generation }) => [id, generation] as const);

/** Applies a step to both. Out: the rows after it. */
function apply(model: Model, stored: StoredItem, { kind, file: id = "", back = 0 }: Step, kept: number, at: number): StoredItem {
  const last = model.current ?? model.deleted!;
  const files = new Map(model.versions.get(last));
  const next = (rows: readonly StoredFile[], content: ReadonlyMap<string, string>) => {
    model.versions.set(last + 1, content);
    [model.current, model.deleted] = [last + 1, undefined];
    return addVersion(stored, { version: last + 1, bytes: 100 }, rows, kept);
  };
  if (model.current === undefined) {
    if (kind === "restore") return next(stored.files, files);
    return kind === "expire" ? keepNewest(stored, kept + 1) : stored;
  }
  const others = stored.files.filter((one) => one.id !== id);
  switch (kind) {
    case "write":
      return next(stored.files, files);
    case "put":
      return next([...others, row(id, `g${at}`, last + 1)], files.set(id, `g${at}`));
    case "remove":
      return files.delete(id) ? next(others, files) : stored;
    case "restore": {
      const content = stored.versions.some(({ version }) => version === last - back) && model.versions.get(last - back);
      if (!content) return stored;
      return next(restoreFiles(stored, last - back, last + 1), content);
    }
    case "destroy":
      if (stored.versions.some(({ version }) => version === last - back)) model.versions.delete(last - back);
      return dropVersion(stored, last - back);
    case "delete":
      [model.current, model.deleted] = [undefined, last];
      return deleteCurrent(stored, at, "token", kept);
    default:
      return keepNewest(stored, kept);
  }
}

/** Drops the versions that the model does not keep either. */
function trim(model: Model, kept: number): void {
  const earlier = [...model.versions.keys()]
    .filter((version) => version !== (model.current ?? model.deleted))
    .toSorted((a, b) => b - a);
  for (const version of earlier.slice(kept)) model.versions.delete(version);
}

it("any sequence of writes, deletions, restorations and destructions keeps exactly the versions of the model, with their Files", () => {
  const property = fc.property(fc.array(step, { maxLength: 30 }), fc.constantFrom(0, 1, 2, 10), (steps, kept) => {
    const model: Model = { current: 1, deleted: undefined, versions: new Map([[1, new Map()]]) };
    let stored: StoredItem = { current: { version: 1, bytes: 100 }, versions: [], files: [], ended: [], deleted: undefined };
    for (const [at, one] of steps.entries()) {
      stored = apply(model, stored, one, kept, at);
      trim(model, kept);
      const versions = [...stored.versions, ...(stored.current ? [stored.current] : [])].map(({ version }) => version);
      expect(versions.toSorted((a, b) => a - b)).toEqual([...model.versions.keys()].toSorted((a, b) => a - b));
      expect([stored.current?.version, stored.deleted?.version]).toEqual([model.current, model.deleted]);
      for (const [version, files] of model.versions) {
        expect(new Map(filesIn(stored, version))).toEqual(files);
        expect(filesIn(stored, version)).toHaveLength(files.size);
      }
      const contents = new Set(
        [...model.versions.values()].flatMap((files) => [...files].map(([id, generation]) => `${id}/${generation}`)),
      );
      expect(new Set(contentsOf(stored).keys())).toEqual(contents);
      expect(contentBytesOf(stored)).toBe(contents.size);
      const rows = stored.files.length + stored.ended.length;
      expect(sealedBytesOf(stored)).toBe(100 * versions.length + 10 * rows);
    }
  });
  fc.assert(property, { numRuns: runs(80, 5000) });
});
