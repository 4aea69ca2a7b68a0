import {
  appendFileSync,
  truncateSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { admin, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";
import { type Running, startCli } from "./support/process.ts";
import { startInterceptor } from "./support/interceptor.ts";

interface Item {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
}

const TITLE = "Database";

/** Two vaults, the first with an Item that has a File, and a token for both. */
async function twoVaults(content = "content of the file") {
  const [from, to] = [await makeVault("From"), await makeVault("To")];
  const { token } = await admin("POST", "tokens", { name: "t", vaults: { [from]: "rwd", [to]: "rwd" } });
  const body = {
    title: TITLE,
    category: "LOGIN",
    vault: { id: from },
    fields: [{ purpose: "PASSWORD", value: "correct horse" }],
  };
  const { id } = (await sendRequest("POST", `v1/vaults/${from}/items`, token, body)) as Item;
  await sendRequest("POST", `v1/vaults/${from}/items/${id}/files?name=notes.txt`, token, content);
  const path = `v1/vaults/${from}/items/${id}`;
  const read = () => sendRequest("GET", path, token) as Promise<Item>;
  const rename = (title: string) => sendRequest("PATCH", path, token, [{ op: "replace", path: "/title", value: title }]);
  const listOf = (vault: string) => sendRequest("GET", `v1/vaults/${vault}/items`, token) as Promise<Item[]>;
  return { from, to, id, token, read, rename, listOf };
}

/** A program for EDITOR that runs a shell script on `$1`, and the empty folder in which the command makes its temporary files. */
function editorOf(script: string) {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-editor-"));
  const editor = join(folder, "editor");
  writeFileSync(editor, `#!/bin/sh\n${script}\n`);
  chmodSync(editor, 0o755);
  const temporary = mkdtempSync(join(tmpdir(), "item-vault-tmp-"));
  return { temporary, env: { VISUAL: editor, TMPDIR: temporary } };
}

describe("item get", () => {
  it("escapes control characters in a table, and shows secrets in it with --reveal only", async () => {
    const { from, id, token, rename } = await twoVaults();
    await rename("\u001B[2Jevil");
    const [hidden, revealed] = await Promise.all(
      [[], ["--reveal"]].map((options) =>
        runHere(["item", "get", id, "--vault", from, ...options], { env: { ITEM_VAULT_TOKEN: token } }),
      ),
    );
    expect(hidden!.stdout).toContain(String.raw`Title     \x1b[2Jevil`);
    expect([hidden!, revealed!].map(({ stdout }) => stdout.includes("correct horse"))).toEqual([false, true]);
  });
});

describe("item create", () => {
  it("refuses a value on the command line without a request, and does not repeat it", async () => {
    const ran = await runHere(["item", "create", "--title", "x", "--field", "password=hunter2"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).not.toContain("hunter2");
  });
});

describe("item edit in the editor", () => {
  it("replaces the Item by what was edited, and leaves no file", async () => {
    const { from, id, token, read } = await twoVaults();
    const { temporary, env } = editorOf(`sed -i 's/"Database"/"Renamed"/' "$1"`);
    vi.stubEnv("TMPDIR", temporary);
    const ran = await runHere(["item", "edit", id, "--vault", from], { env: { ...env, ITEM_VAULT_TOKEN: token } });
    vi.unstubAllEnvs();
    expect({ ...ran, title: (await read()).title }).toMatchObject({ code: 0, title: "Renamed", stderr: "" });
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("sends no write when nothing was changed", async () => {
    const { from, id, token } = await twoVaults();
    const proxy = await startInterceptor();
    const env = { ...editorOf(`touch "$1"`).env, ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const ran = await runHere(["item", "edit", id, "--vault", from], { env });
    expect({ ...ran, requests: proxy.requests }).toMatchObject({
      code: 0,
      stderr: "Nothing was changed\n",
      requests: [`GET /v1/vaults/${from}/items/${id}`],
    });
  });

  it("keeps the text in a file of mode 0600 when the Item was changed meanwhile, and writes nothing", async () => {
    const { from, id, token, read, rename } = await twoVaults();
    const proxy = await startInterceptor({ before: async (name) => void (name.startsWith("PUT") && (await rename("Theirs"))) });
    const { env } = editorOf(`sed -i 's/"Database"/"Ours"/' "$1"`);
    const ran = await runHere(["item", "edit", id, "--vault", from], {
      env: { ...env, ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url },
    });
    expect({ code: ran.code, title: (await read()).title }).toEqual({ code: 5, title: "Theirs" });
    const [kept] = /\/\S+\/item\.json/.exec(ran.stderr)!;
    expect({ text: JSON.parse(readFileSync(kept, "utf8")) as unknown, mode: statSync(kept).mode & 0o777 }).toMatchObject({
      text: { title: "Ours" },
      mode: 0o600,
    });
    expect(statSync(join(kept, "..")).mode & 0o777).toBe(0o700);
  });

  it("keeps a text that is no JSON, and says where the fault is without a part of the text", async () => {
    const { from, id, token } = await twoVaults();
    const { env } = editorOf(`printf '{"title": "hunter2' > "$1"`);
    const ran = await runHere(["item", "edit", id, "--vault", from], { env: { ...env, ITEM_VAULT_TOKEN: token } });
    expect(ran).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is not JSON \(line 1, column \d+\)\n.*item\.json/) as string,
    });
    expect(ran.stderr).not.toContain("hunter2");
  });

  it("leaves no file when the Item is replaced and cannot be printed, and does not say that it was not", async () => {
    const { from, id, token, read } = await twoVaults();
    const { temporary, env } = editorOf(String.raw`sed -i 's/correct horse/carriage\\r/' "$1"`);
    vi.stubEnv("TMPDIR", temporary);
    const args = ["item", "edit", id, "--vault", from, "--format", "dotenv"];
    const ran = await runHere(args, { env: { ...env, ITEM_VAULT_TOKEN: token } });
    vi.unstubAllEnvs();
    expect((await read()).fields).toMatchObject([{ value: "carriage\r" }]);
    const printed = await runHere(["item", "get", id, "--vault", from, "--format", "dotenv"], {
      env: { ITEM_VAULT_TOKEN: token },
    });
    expect([printed.code, ran]).toEqual([1, printed]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("removes the file when a signal ends it", async () => {
    const { from, id, token } = await twoVaults();
    const { temporary, env } = editorOf("exec sleep 20");
    const { child, ended } = startCli(["item", "edit", id, "--vault", from], { env: { ...env, ITEM_VAULT_TOKEN: token } });
    await vi.waitFor(() => expect(readdirSync(temporary)).toHaveLength(1), { timeout: 120_000 });
    child.kill("SIGTERM");
    expect((await ended).code).toBe(143);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe("item edit by options", () => {
  it("changes the field that somebody else has added meanwhile, and adds no second one", async () => {
    const { from, id, token, read } = await twoVaults();
    let first = true;
    const proxy = await startInterceptor({
      before: async (name) => {
        if (!name.startsWith("PATCH") || !first) return;
        first = false;
        const value = { label: "pin", type: "CONCEALED", value: "theirs" };
        await sendRequest("PATCH", `v1/vaults/${from}/items/${id}`, token, [{ op: "add", path: "/fields", value }]);
      },
    });
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const ran = await runHere(["item", "edit", id, "--vault", from, "--field", "pin=-"], { env, input: "ours" });
    const pins = (await read()).fields.filter(({ label }) => label === "pin");
    expect({ code: ran.code, pins }).toMatchObject({ code: 0, pins: [{ value: "ours" }] });
  });
});

describe("item move", () => {
  it("leaves the Item alone in its vault when the token may not delete it, or the vault is the same by its other id", async () => {
    const { from, to, id, listOf } = await twoVaults();
    const { token } = await admin("POST", "tokens", { name: "t", vaults: { [from]: "r", [to]: "rw" } });
    const { token: connect } = await admin("POST", "tokens", { name: "t", dialect: "connect", vaults: { [from]: "r" } });
    const [{ id: base32 }] = (await sendRequest("GET", "v1/vaults", connect)) as [Item];
    const env = { ITEM_VAULT_TOKEN: token };
    const [refused, same] = await Promise.all(
      [to, base32].map((vault) => runHere(["item", "move", id, "--vault", from, "--to", vault], { env })),
    );
    expect([refused!.code, same!.code]).toEqual([3, 2]);
    expect({ source: await listOf(from), copies: await listOf(to) }).toMatchObject({ source: [{ id }], copies: [] });
  });

  it("leaves the Item and a complete copy when it is killed before the deletion", async () => {
    const { from, to, id, token, listOf } = await twoVaults();
    let running: Running | undefined;
    const proxy = await startInterceptor({
      before: (name) => {
        if (!name.startsWith("DELETE")) return true;
        running!.child.kill("SIGKILL");
        return false;
      },
    });
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    running = startCli(["item", "move", id, "--vault", from, "--to", to], { env });
    expect((await running.ended).signal).toBe("SIGKILL");
    const [copy] = await listOf(to);
    const files = await sendRequest("GET", `v1/vaults/${to}/items/${copy!.id}/files?inline_files=true`, token);
    expect({ source: await listOf(from), copy, files }).toMatchObject({
      source: [{ id }],
      copy: { title: TITLE },
      files: [{ name: "notes.txt", content: btoa("content of the file") }],
    });
  });

  it("keeps the Item and deletes the copy when the Item was changed meanwhile", async () => {
    const { from, to, id, token, rename, listOf } = await twoVaults();
    let first = true;
    const proxy = await startInterceptor({
      before: async (name) => {
        if (name.startsWith("DELETE") && first) await rename("Changed");
        if (name.startsWith("DELETE")) first = false;
      },
    });
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const ran = await runHere(["item", "move", id, "--vault", from, "--to", to], { env });
    expect(ran).toMatchObject({ code: 5, stdout: "" });
    expect({ source: await listOf(from), copies: await listOf(to) }).toMatchObject({
      source: [{ id, title: "Changed" }],
      copies: [],
    });
  });

  it("deletes the incomplete copy when a File cannot be copied", async () => {
    const { from, to, id, token, listOf } = await twoVaults("x".repeat(300_000));
    const proxy = await startInterceptor({ cutAfter: (name) => (name.endsWith("/content") ? 100_000 : undefined) });
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const ran = await runHere(["item", "move", id, "--vault", from, "--to", to], { env });
    expect({ code: ran.code, source: await listOf(from), copies: await listOf(to) }).toMatchObject({
      code: 6,
      source: [{ id }],
      copies: [],
    });
  });
});

describe("file", () => {
  it("put sends the size of a file in Content-Length", async () => {
    const { from, id, token } = await twoVaults();
    const proxy = await startInterceptor();
    const path = join(mkdtempSync(join(tmpdir(), "item-vault-put-")), "large");
    writeFileSync(path, Buffer.alloc(3_000_000));
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    expect((await runHere(["file", "put", id, path, "--vault", from], { env })).code).toBe(0);
    expect(proxy.headers[proxy.requests.indexOf(`POST /v1/vaults/${from}/items/${id}/files`)]).toMatchObject({
      "content-length": "3000000",
    });
  });

  it("put stores nothing of a file that becomes longer or shorter while it is read", async () => {
    const { from, id, token } = await twoVaults();
    const folder = mkdtempSync(join(tmpdir(), "item-vault-put-"));
    const put = async (change: (path: string) => void) => {
      const path = mkdtempSync(join(folder, "x")) + "/large";
      writeFileSync(path, Buffer.alloc(3_000_000));
      const proxy = await startInterceptor({ before: (name) => void (name.startsWith("GET") && change(path)) });
      const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
      return runHere(["file", "put", TITLE, path, "--vault", from], { env });
    };
    const ran = await Promise.all([put((path) => appendFileSync(path, "more")), put((path) => truncateSync(path, 5))]);
    const changed = { code: 5, stderr: expect.stringContaining("changed while it was read") as string };
    expect(ran).toMatchObject([changed, changed]);
    expect(await sendRequest("GET", `v1/vaults/${from}/items/${id}/files`, token)).toHaveLength(1);
  });

  it("get leaves nothing of a download that ends early", async () => {
    const { from, id, token } = await twoVaults("x".repeat(300_000));
    const proxy = await startInterceptor({ cutAfter: (name) => (name.endsWith("/content") ? 100_000 : undefined) });
    const cwd = mkdtempSync(join(tmpdir(), "item-vault-get-"));
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const ran = await runHere(["file", "get", id, "notes.txt", "--vault", from], { env, cwd });
    expect({ ...ran, left: readdirSync(cwd) }).toMatchObject({ code: 6, left: [] });
  });

  it("get uses only the last part of a name of the service, and makes the file with mode 0600", async () => {
    const { from, id, token } = await twoVaults();
    await sendRequest("POST", `v1/vaults/${from}/items/${id}/files?name=..%2F..%2Fevil`, token, "evil");
    const cwd = mkdtempSync(join(tmpdir(), "item-vault-get-"));
    const env = { ITEM_VAULT_TOKEN: token };
    const ran = await runHere(["file", "get", id, "../../evil", "--vault", from, "-o", "."], { env, cwd });
    expect(ran.code).toBe(0);
    expect(existsSync(join(cwd, "evil")) && statSync(join(cwd, "evil")).mode & 0o777).toBe(0o600);
  });
});

describe("item delete --destroy", () => {
  it.each(["title", "id"] as const)("destroys an Item that is deleted already, named by its %s", async (by) => {
    const { from, id, token } = await twoVaults();
    const env = { ITEM_VAULT_TOKEN: token };
    const listed = async () =>
      ((await sendRequest("GET", `v1/vaults/${from}/deleted-items`, token)) as Item[]).map((item) => item.id);
    expect(await runHere(["item", "delete", id, "--vault", from], { env })).toMatchObject({ code: 0 });
    expect(await listed()).toEqual([id]);
    const name = by === "id" ? id : TITLE;
    expect(await runHere(["item", "delete", name, "--vault", from, "--destroy", "--yes"], { env })).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`Destroyed ${id}`) as string,
    });
    expect(await listed()).toEqual([]);
  });
});

describe("a list with an entry whose stored record does not open", () => {
  it("is shown whole by `item list`, and only the broken Item lacks its attributes", async () => {
    const { from, id, token } = await twoVaults();
    const broken = { id: "11111111-1111-4111-8111-111111111111", vault: { id: from }, version: 3, broken: "integrity" };
    const summaries = (await sendRequest("GET", `v1/vaults/${from}/items`, token)) as object[];
    const proxy = await startInterceptor({
      answer: (name) => (name === `GET /v1/vaults/${from}/items` ? [broken, ...summaries] : undefined),
    });
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const table = await runHere(["item", "list", "--vault", from], { env });
    expect(table).toMatchObject({ code: 0, stderr: "" });
    const lines = table.stdout.split("\n");
    expect(lines.find((line) => line.includes(broken.id))).toContain("(cannot be decrypted)");
    expect(lines.find((line) => line.includes(id))).toContain(TITLE);
    const json = await runHere(["item", "list", "--vault", from, "--format", "json"], { env });
    expect(JSON.parse(json.stdout)).toEqual([broken, ...summaries]);
  });

  it("is shown whole by `item versions`, and only the version that does not open lacks its attributes", async () => {
    const { from, id, token, rename } = await twoVaults();
    await rename("Renamed");
    const path = `v1/vaults/${from}/items/${id}/versions`;
    const versions = (await sendRequest("GET", path, token)) as { version: number; current: boolean }[];
    const broken = versions.map((entry) => (entry.version === 1 ? { version: 1, current: false, broken: "integrity" } : entry));
    const proxy = await startInterceptor({ answer: (name) => (name === `GET /${path}` ? broken : undefined) });
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const table = await runHere(["item", "versions", id, "--vault", from], { env });
    expect(table).toMatchObject({ code: 0, stderr: "" });
    expect(table.stdout).toMatch(/^1 +\(cannot be decrypted\)/m);
    expect(table.stdout).toMatch(/^\d+ +20.*Renamed +current$/m);
    const json = await runHere(["item", "versions", id, "--vault", from, "--format", "json"], { env });
    expect(JSON.parse(json.stdout)).toEqual(broken);
  });
});

describe("file put of stdin", () => {
  const FAILURES: [string, number, (place: { from: string; id: string }) => string[]][] = [
    ["an Item that does not exist", 4, ({ from }) => ["none", "--vault", from]],
    ["a File to replace that does not exist", 4, ({ from, id }) => [id, "--vault", from, "--replace", "none"]],
    ["a section that the service refuses", 2, ({ from, id }) => [id, "--vault", from, "--section", "s".repeat(300)]],
  ];
  it.each(FAILURES)("ends after a failure while stdin is open: %s", async (_, code, argsFor) => {
    const place = await twoVaults();
    const [item, ...options] = argsFor(place) as [string, ...string[]];
    const args = ["file", "put", item, "-", "--name", "f", ...options];
    const { child, ended } = startCli(args, { env: { ITEM_VAULT_TOKEN: place.token } });
    child.stdin.on("error", () => undefined); // the process ends before it has read everything
    child.stdin.write("the first bytes");
    expect(await ended).toMatchObject({ code, signal: null });
  });
});
