/**
 * `npm run vectors`: writes the examples of stored forms that vectors/ lacks (docs/format.md), with the code of this checkout. One that is there
 * is never changed.
 */
import { execFileSync } from "node:child_process";
import { timingSafeEqual } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { addByteMethods } from "../packages/host/src/platform/bytes.ts";
import { startWorker } from "../test/sdk/support/worker.ts";
import { need } from "../test/upgrade/support/ask.ts";
import { contentOf, FULL } from "../test/upgrade/support/sample-items.ts";

interface Form {
  readonly examples: Readonly<Record<string, () => Promise<object>>>;
}

/** Modules of the Worker, whose types are not those of this program. */
const FORMS_MODULE: string = "../vectors/forms/forms.ts";
const FOLDER = "vectors";

const write = (path: string, value: object): void => writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);

async function writeForms(): Promise<void> {
  // What workerd has and Node has not.
  addByteMethods();
  Object.assign(crypto.subtle, { timingSafeEqual });
  const { FORMS } = (await import(FORMS_MODULE)) as { readonly FORMS: Readonly<Record<string, Form>> };
  for (const [name, { examples }] of Object.entries(FORMS)) {
    const path = join(FOLDER, `${name}.json`);
    const written = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, object>) : {};
    const lacking = Object.entries(examples).filter(([example]) => !Object.hasOwn(written, example));
    for (const [example, make] of lacking) written[example] = await make();
    if (lacking.length > 0) write(path, written);
    console.log(`${path}: ${lacking.length} new examples`);
  }
}

const ROOT_KEYS = JSON.stringify({
  active: "k1",
  keys: { k1: Buffer.from("the root key of an example, 32 b").toString("base64") },
});
const SECRETS = {
  ADMIN_TOKEN: "the-admin-token-of-an-example-of-32",
  METRICS_TOKEN: "the-metrics-token-of-an-example-32",
  ROOT_KEYS,
};

/** Returns the files below a folder by their paths, each as `valueOf` gives it. */
function pack(folder: string, valueOf: (path: string, bytes: Buffer) => unknown): Record<string, unknown> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Object.fromEntries(paths.map((path) => [relative(folder, path), valueOf(path, readFileSync(path))]));
}

const isText = (path: string): boolean => /\/(?:parts\/|[0-9]{8}\.manifest$)/.test(path);

/** A vault with an Item of two versions, a File, a deleted Item and a webhook. */
async function plant(base: string): Promise<void> {
  const admin = <Body>(path: string, body: object) =>
    need<Body>(base, { method: "POST", path: `/v1/admin/${path}`, token: SECRETS.ADMIN_TOKEN, body });
  const { id: vault } = await admin<{ id: string }>("vaults", { name: "Example", description: "of docs/format.md" });
  const { token } = await admin<{ token: string }>("tokens", { name: "example", vaults: { [vault]: "rwd" } });
  const send = (method: string, path: string, body?: unknown) =>
    need<{ id: string }>(base, { method, path: `/v1/vaults/${vault}/items${path}`, token, body });
  const { id: item } = await send("POST", "", FULL);
  const { id: file } = await send("POST", `/${item}/files?name=notes.txt`, "The first content.\n");
  await send("PUT", `/${item}/files/${file}/content`, contentOf(20));
  const { id: deleted } = await send("POST", "", { category: "SECURE_NOTE", title: "Deleted" });
  await send("DELETE", `/${deleted}`);
  await admin(`vaults/${vault}/webhooks`, { url: "https://hooks.example.com/", enabled: false });
}

const run = (args: readonly string[], env: Readonly<Record<string, string>>): Buffer =>
  execFileSync(process.execPath, args, { stdio: "inherit", env: { ...process.env, ...env } });

/** Writes what a backup of an example is, and what tools/open-backup.mjs makes of it. */
async function writeBackup(): Promise<void> {
  const path = join(FOLDER, "backup.json");
  if (existsSync(path)) return;
  const folder = mkdtempSync(join(tmpdir(), "item-vault-vectors-"));
  Object.assign(process.env, SECRETS); // wrangler warns of each that is missing
  const { url, close } = await startWorker(SECRETS);
  try {
    await plant(url.replace(/\/$/, ""));
    const [backup, opened] = [join(folder, "backup"), join(folder, "opened")];
    const command = ["--conditions=source", "packages/cli/src/main.ts", "admin", "backup", "--to", backup];
    run(command, { ITEM_VAULT_HOST: url, ITEM_VAULT_ADMIN_TOKEN: SECRETS.ADMIN_TOKEN });
    run(["tools/open-backup.mjs", backup, opened], { ROOT_KEYS });
    const objects = pack(backup, (one, bytes) => bytes.toString(isText(one) ? "utf8" : "base64"));
    const opens = pack(opened, (one, bytes) => {
      if (one.endsWith(".json")) return JSON.parse(bytes.toString());
      return bytes.toString(one.endsWith(".jsonl") ? "utf8" : "base64");
    });
    write(path, { rootKeys: ROOT_KEYS, objects, opens });
    console.log(`${path}: ${Object.keys(objects).length} objects`);
  } finally {
    await close();
    rmSync(folder, { recursive: true });
  }
}

await writeForms();
await writeBackup();
