import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { addressOf } from "../../src/model/file.ts";
import { contentsOfPart, copyContents } from "../../src/store/backup/contents.ts";
import { loadManifest, loadNewest, loadPart } from "../../src/store/backup/load.ts";
import { checkPart } from "../../src/store/checks/parts.ts";
import { loadContent } from "../../src/store/contents/download.ts";
import { contentKey } from "../../src/store/contents/object-keys.ts";
import { openVaultRow } from "../../src/store/restore/check.ts";
import { openKeys } from "../../src/store/vaults/rows.ts";
import type { Example } from "../../vectors/forms/example.ts";
import { FORMS } from "../../vectors/forms/forms.ts";
import { backupStore, valueOf } from "../support/backup.ts";
import { sources } from "../support/sources.ts";

/** The examples of stored forms (vectors/, docs/format.md): the service reads each, whichever release has written it. */

const files = import.meta.glob("../../vectors/*.json", { query: "?raw", import: "default", eager: true });
const parsed = new Map(
  Object.entries(files).map(([path, text]) => [path.replace(/^.*\/(.*)\.json$/, "$1"), JSON.parse(text) as Record<string, any>]),
);

describe("the examples of stored forms", () => {
  it("are there for each form, and for a backup", () => {
    expect([...parsed.keys()].toSorted()).toEqual([...Object.keys(FORMS), "backup"].toSorted());
    for (const [name, { examples }] of Object.entries(FORMS))
      expect(Object.keys(parsed.get(name)!)).toEqual(Object.keys(examples));
  });

  const all = Object.entries(FORMS).flatMap(([name, form]) =>
    Object.entries(form.examples).map(([example, make]) => ({ name, example, form, make })),
  );

  it.each(all)("are read as they were written: $name, $example", async ({ name, example, form }) => {
    const stored = parsed.get(name)![example] as Example;
    expect(await form.read(stored)).toEqual(stored.opens);
  });

  it.each(all)(
    "are what the service writes today, but for random bytes: $name, $example",
    async ({ name, example, form, make }) => {
      const stored = parsed.get(name)![example] as Example;
      const made = await make();
      expect(Object.keys(made)).toEqual(Object.keys(stored));
      expect(await form.read(made)).toEqual(made.opens);
    },
  );

  it("have a key of every use for which the sources derive one", () => {
    const code = sources.flatMap((source) => (source.path.startsWith("src/") ? [source.code] : [])).join("\n");
    const matches = (pattern: RegExp) => [...code.matchAll(pattern)].map(([, found = ""]) => found);
    const wordsOf = (type: string) =>
      matches(new RegExp(`export type ${type} = ([^;]+);`, "g")).flatMap((words) => words.match(/[\w-]+/g)!);
    const uses = [
      ...matches(/derive(?:Bits|d?Key)\([\w.]+, "([^"]+)"[,)]/g),
      ...wordsOf("IndexUse"),
      ...wordsOf("Use").map((use) => `console/${use}`),
    ];
    expect(matches(/derivedKey\([\w.]+, `([^`]+)`/g).toSorted()).toEqual(["activity/${dayOf(time)}", "console/${use}"]);
    expect(Object.keys(parsed.get("derived-key")!).toSorted()).toEqual([...uses, "activity/2025-11-26"].toSorted());
  });
});

interface BackupExample {
  readonly rootKeys: string;
  /** Manifests and parts as they are, contents in base64. */
  readonly objects: Readonly<Record<string, string>>;
}

describe("the example of a backup", () => {
  it("is read whole: each manifest, part, row and content", async () => {
    const { rootKeys, objects } = parsed.get("backup") as unknown as BackupExample;
    for (const [key, text] of Object.entries(objects))
      await env.BACKUPS.put(key, key.startsWith("contents/") ? Uint8Array.fromBase64(text) : text);
    const store = await backupStore({ ROOT_KEYS: rootKeys });
    const { backups, keyring } = store;
    const registry = valueOf(await loadNewest(backups, keyring, REGISTRY)).manifest;
    const manifests = [registry];
    for (const named of registry.snapshots!) {
      const { manifest, sha256 } = valueOf(await loadManifest(backups, keyring, named));
      expect(sha256).toBe(named.sha256);
      manifests.push(manifest);
    }
    let [rows, contents] = [0, 0];
    for (const manifest of manifests) {
      const { vault } = manifest;
      const keys = vault === REGISTRY ? undefined : valueOf(await openKeys(store, valueOf(await openVaultRow(store, manifest))));
      for (const ref of manifest.parts) {
        const part = valueOf(await loadPart(backups, manifest, ref));
        const checked = await checkPart({ store, vault, keys }, manifest.number, part);
        expect(checked.faults).toEqual([]);
        rows += checked.rows;
        const contentKeys = contentsOfPart(vault, part).map(contentKey);
        await copyContents({ store, to: "files", isSpent: () => false }, contentKeys);
        contents += contentKeys.length;
        for (const { item, file } of checked.files)
          expect(valueOf(await loadContent(store.files, addressOf(vault, item, file), file))).toHaveLength(file.size);
      }
    }
    expect(rows).toBeGreaterThan(10);
    expect(contents).toBe(Object.keys(objects).filter((key) => key.startsWith("contents/")).length);
  });
});
