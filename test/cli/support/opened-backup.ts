import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { summary } from "../../upgrade/support/ask.ts";
import type { AnsweredItem, AnsweredVault } from "./backup-world.ts";

/** Runs tools/open-backup.mjs, and reads what it has written as the API would answer it. */

const PROGRAM = "tools/open-backup.mjs";

export interface Opened {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The folder of the output; it may not exist. */
  readonly output: string;
}

/** Runs the program. In: the folder of the backup; more arguments; variables of its environment, which has no others. */
export function openBackup(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  output: string = join(mkdtempSync(join(tmpdir(), "item-vault-opened-")), "output"),
): Promise<Opened> {
  return new Promise((done) => {
    execFile(process.execPath, [PROGRAM, folder, output, ...args], { env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number((error as { readonly code?: unknown }).code ?? NaN);
      done({ code, stdout, stderr, output });
    });
  });
}

/** The paths of the files below a folder, from there, sorted. None where the folder does not exist. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name }) => relative(folder, join(parentPath, name))).toSorted();
}

/** The modes of all files and folders below a folder: permissions in octal. */
export const modesBelow = (folder: string): { files: Set<string>; folders: Set<string> } => {
  const [files, folders] = [new Set<string>(), new Set([modeOf(folder)])];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    (entry.isFile() ? files : folders).add(modeOf(join(entry.parentPath, entry.name)));
  return { files, folders };
};

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

export const readJson = (...path: string[]): any => JSON.parse(readFileSync(join(...path), "utf8"));

/** The lines of a log. */
export const readLog = (...path: string[]): Record<string, any>[] =>
  readFileSync(join(...path, "activity.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, any>);

/** What the API adds to an answer: what depends on the time, and the label of a field's section. */
function asStored({ fields, files, createdAt, updatedAt, deletedAt, ...item }: AnsweredItem): Record<string, unknown> {
  return {
    ...item,
    createdAt: Date.parse(createdAt),
    updatedAt: Date.parse(updatedAt),
    deletedAt: deletedAt && Date.parse(deletedAt),
    fields: fields.map(({ totp: _totp, section, ...field }: any) => ({ ...field, section: section?.id })),
    files: files.map(({ content_path: _path, section, ...file }: any) => ({ ...file, section: section?.id })),
  };
}

/** A vault as `AnsweredVault`, with the Items as they are stored. */
export type StoredVault = Omit<AnsweredVault, "items" | "deleted"> & {
  readonly items: ReadonlyMap<string, readonly Record<string, unknown>[]>;
  readonly deleted: ReadonlyMap<string, Record<string, unknown>>;
};

/** The same without attributes that are `undefined`, so that a difference is easy to see. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** What the API answers of a vault, in the form in which the program writes it. */
export const expectedOf = ({ items, deleted, vault, webhooks, contents }: AnsweredVault): StoredVault => ({
  vault: { id: vault["id"], name: vault["name"], description: vault["description"] },
  items: new Map([...items].map(([id, versions]) => [id, plain(versions.map(asStored))])),
  deleted: new Map([...deleted].map(([id, item]) => [id, plain(asStored(item))])),
  webhooks: webhooks.map(({ id, url, createdAt }) => ({ id, url, createdAt: Date.parse(createdAt) })),
  contents,
});

/** What the program has written of a vault, without what the API does not answer. */
export function writtenVault(output: string, vault: string): StoredVault {
  const folder = join(output, "vaults", vault);
  const { id, name, description, webhooks } = readJson(folder, "vault.json");
  const items = new Map<string, Record<string, unknown>[]>();
  const deleted = new Map<string, Record<string, unknown>>();
  const contents = new Map<string, unknown>();
  for (const file of readdirSync(join(folder, "items"))) {
    const document = readJson(folder, "items", file);
    const of = (version: Record<string, any>) => versionOf(document, version, { id: vault, name });
    const note = (item: Record<string, any>, suffix: string) => {
      for (const { id: one, path } of filesOf(document, item["version"]).filter(({ path: isThere }) => isThere))
        contents.set(`${document.id}/${one}${suffix}`, summary(readFileSync(join(folder, path))));
    };
    if (document.deleted === undefined) {
      const versions = [document, ...document.versions.toReversed()];
      items.set(document.id, plain(versions.map(of)));
      for (const version of versions) note(version, `/${version.version}`);
    } else {
      const last = document.versions.find(({ version }: any) => version === document.deleted.version);
      const { deletedAt, deletedBy } = document.deleted;
      deleted.set(document.id, plain({ ...of(last), state: "DELETED", deletedAt, deletedBy }));
      note(last, "");
    }
  }
  return {
    vault: { id, name, description },
    items,
    deleted,
    webhooks: webhooks.map(({ id: one, url, createdAt }: any) => ({ id: one, url, createdAt })),
    contents,
  };
}

/** The rows of the Files of a version. */
const filesOf = ({ files, earlierFiles }: any, version: number): any[] =>
  [...files, ...earlierFiles]
    .filter(({ since, until = Infinity }) => since <= version && version < until)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));

function versionOf(document: any, version: any, vault: object): Record<string, unknown> {
  const { username: _username, deleted: _deleted, versions: _versions, earlierFiles: _earlier, fields, ...item } = version;
  const files = filesOf(document, version.version).map(({ id, name, size, section }) => ({ id, name, size, section }));
  return {
    ...item,
    id: document.id,
    vault,
    deletedAt: undefined,
    // The service leaves an empty purpose out of its answers.
    fields: fields?.map((field: any) => Object.assign(field, { purpose: field.purpose || undefined })),
    files,
  };
}
