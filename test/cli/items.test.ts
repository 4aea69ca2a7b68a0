import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { makeToken, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { fileOf, modeOf, newFolder, programOf } from "./support/files.ts";
import { ends, runHere } from "./support/here.ts";
import { type InterceptorOptions, startInterceptor } from "./support/interceptor.ts";
import { type Running, startCli } from "./support/process.ts";

interface Item {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
}

const TITLE = "Database";

/** Two vaults, the first with an Item that has a File, and a token for both. Commands run through a proxy. */
async function twoVaults({
  content = "content of the file",
  ...options
}: InterceptorOptions & { readonly content?: string } = {}) {
  const [from, to] = [await makeVault("From"), await makeVault("To")];
  const { token } = await makeToken({ [from]: "rwd", [to]: "rwd" }, "uuid");
  const send = (method: string, path: string, body?: unknown): Promise<any> =>
    sendRequest(method, `v1/vaults/${path}`, token, body);
  const fields = [{ purpose: "PASSWORD", value: "correct horse" }];
  const { id } = await send("POST", `${from}/items`, { title: TITLE, category: "LOGIN", fields });
  await send("POST", `${from}/items/${id}/files?name=notes.txt`, content);
  const path = `${from}/items/${id}`;
  const proxy = await startInterceptor(options);
  const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
  return {
    from,
    to,
    id,
    path,
    proxy,
    env,
    send,
    read: (): Promise<Item> => send("GET", path),
    rename: (title: string) => send("PATCH", path, [{ op: "replace", path: "/title", value: title }]),
    /** The Items of both vaults. */
    lists: async (): Promise<[Item[], Item[]]> => [await send("GET", `${from}/items`), await send("GET", `${to}/items`)],
    /** Runs a command about the first vault. */
    run: (line: string, more: { readonly env?: Record<string, string>; readonly input?: string; readonly cwd?: string } = {}) =>
      runHere(`${line} --vault ${from}`, { ...more, env: { ...env, ...more.env } }),
  };
}

/** A program for EDITOR that runs a shell script on `$1`, and the empty folder in which this process makes temporary files until the end of the test. */
function editorOf(script: string) {
  const temporary = newFolder();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { temporary, env: { VISUAL: join(programOf("editor", script), "editor"), TMPDIR: temporary } };
}

describe("item get", () => {
  it("escapes control characters in a table, and shows secrets in it with --reveal only", async () => {
    const { id, rename, run } = await twoVaults();
    await rename("\u001B[2Jevil");
    const [hidden, revealed] = [await run(`item get ${id}`), await run(`item get ${id} --reveal`)];
    expect(hidden.stdout).toContain(String.raw`Title     \x1b[2Jevil`);
    expect([hidden, revealed].map(({ stdout }) => stdout.includes("correct horse"))).toEqual([false, true]);
  });
});

describe("item edit in the editor", () => {
  it("replaces the Item by what was edited, and leaves no file", async () => {
    const { id, read, run } = await twoVaults();
    const { temporary, env } = editorOf(`sed -i 's/"Database"/"Renamed"/' "$1"`);
    expect(await run(`item edit ${id}`, { env })).toMatchObject({ code: 0, stderr: "" });
    expect([(await read()).title, readdirSync(temporary)]).toEqual(["Renamed", []]);
  });

  it("sends no write when nothing was changed", async () => {
    const { id, path, proxy, run } = await twoVaults();
    const ran = await run(`item edit ${id}`, editorOf(`touch "$1"`));
    expect(ran).toMatchObject({ code: 0, stderr: "Nothing was changed\n" });
    expect(proxy.requests).toEqual([`GET /v1/vaults/${path}`]);
  });

  it("keeps the text in a file of mode 0600 when the Item was changed meanwhile, and writes nothing", async () => {
    const before = async (name: string) => void (name.startsWith("PUT") && (await world.rename("Theirs")));
    const world = await twoVaults({ before });
    const ran = await world.run(`item edit ${world.id}`, editorOf(`sed -i 's/"Database"/"Ours"/' "$1"`));
    expect([ran.code, (await world.read()).title]).toEqual([5, "Theirs"]);
    const [kept] = /\/\S+\/item\.json/.exec(ran.stderr)!;
    expect(JSON.parse(readFileSync(kept, "utf8"))).toMatchObject({ title: "Ours" });
    expect([modeOf(kept), modeOf(dirname(kept))]).toEqual([0o600, 0o700]);
  });

  it("keeps a text that is no JSON, and says where the fault is without a part of the text", async () => {
    const { id, run } = await twoVaults();
    const ran = await run(`item edit ${id}`, editorOf(`printf '{"title": "hunter2' > "$1"`));
    expect(ran).toMatchObject(ends(2, /is not JSON \(line 1, column \d+\)\n.*item\.json/));
    expect(ran.stderr).not.toContain("hunter2");
  });

  it("leaves no file when the Item is replaced and cannot be printed, and does not say that it was not", async () => {
    const { id, read, run } = await twoVaults();
    const { temporary, env } = editorOf(String.raw`sed -i 's/correct horse/carriage\\r/' "$1"`);
    const ran = await run(`item edit ${id} --format dotenv`, { env });
    expect((await read()).fields).toMatchObject([{ value: "carriage\r" }]);
    const shown = await run(`item get ${id} --format dotenv`);
    expect([shown.code, ran, readdirSync(temporary)]).toEqual([1, shown, []]);
  });

  it("removes the file when a signal ends it", async () => {
    const { from, id, env } = await twoVaults();
    const editor = editorOf("exec sleep 20");
    const { child, ended } = startCli(["item", "edit", id, "--vault", from], { env: { ...env, ...editor.env } });
    await vi.waitFor(() => expect(readdirSync(editor.temporary)).toHaveLength(1), { timeout: 120_000 });
    child.kill("SIGTERM");
    expect([(await ended).code, readdirSync(editor.temporary)]).toEqual([143, []]);
  });
});

it("item edit by options changes the field that somebody else has added meanwhile, and adds no second one", async () => {
  let first = true;
  const before = async (name: string) => {
    if (!name.startsWith("PATCH") || !first) return;
    first = false;
    const value = { label: "pin", type: "CONCEALED", value: "theirs" };
    await world.send("PATCH", world.path, [{ op: "add", path: "/fields", value }]);
  };
  const world = await twoVaults({ before });
  expect(await world.run(`item edit ${world.id} --field pin=-`, { input: "ours" })).toMatchObject({ code: 0 });
  expect((await world.read()).fields.filter(({ label }) => label === "pin")).toMatchObject([{ value: "ours" }]);
});

describe("item move", () => {
  it("leaves the Item alone in its vault when the token may not delete it, or the vault is the same by its other id", async () => {
    const { from, to, id, lists, run } = await twoVaults();
    const { token } = await makeToken({ [from]: "r", [to]: "rw" }, "uuid");
    const { token: connect } = await makeToken({ [from]: "r" });
    const [{ id: base32 }] = (await sendRequest("GET", "v1/vaults", connect)) as [Item];
    const env = { ITEM_VAULT_TOKEN: token };
    const codes = [await run(`item move ${id} --to ${to}`, { env }), await run(`item move ${id} --to ${base32}`, { env })];
    expect(codes.map(({ code }) => code)).toEqual([3, 2]);
    expect(await lists()).toMatchObject([[{ id }], []]);
  });

  it("leaves the Item and a complete copy when it is killed before the deletion", async () => {
    let running: Running | undefined;
    const before = (name: string) => !name.startsWith("DELETE") || (running!.child.kill("SIGKILL"), false);
    const { from, to, id, env, send, lists } = await twoVaults({ before });
    running = startCli(["item", "move", id, "--vault", from, "--to", to], { env });
    expect((await running.ended).signal).toBe("SIGKILL");
    const [source, [copy]] = await lists();
    expect([source, copy]).toMatchObject([[{ id }], { title: TITLE }]);
    const files = await send("GET", `${to}/items/${copy!.id}/files?inline_files=true`);
    expect(files).toMatchObject([{ name: "notes.txt", content: btoa("content of the file") }]);
  });

  it("keeps the Item and deletes the copy when the Item was changed meanwhile", async () => {
    let first = true;
    const before = async (name: string) => {
      if (name.startsWith("DELETE") && first) await world.rename("Changed");
      if (name.startsWith("DELETE")) first = false;
    };
    const world = await twoVaults({ before });
    expect(await world.run(`item move ${world.id} --to ${world.to}`)).toMatchObject({ code: 5, stdout: "" });
    expect(await world.lists()).toMatchObject([[{ id: world.id, title: "Changed" }], []]);
  });

  it("deletes the incomplete copy when a File cannot be copied", async () => {
    const { id, to, lists, run } = await twoVaults({ content: "x".repeat(300_000), cutAfter: cutContents });
    expect(await run(`item move ${id} --to ${to}`)).toMatchObject({ code: 6 });
    expect(await lists()).toMatchObject([[{ id }], []]);
  });
});

const cutContents = (name: string) => (name.endsWith("/content") ? 100_000 : undefined);

describe("file", () => {
  it("put sends the size of a file in Content-Length", async () => {
    const { id, path, proxy, run } = await twoVaults();
    expect((await run(`file put ${id} ${fileOf(Buffer.alloc(3_000_000))}`)).code).toBe(0);
    const sent = proxy.headers[proxy.requests.indexOf(`POST /v1/vaults/${path}/files`)];
    expect(sent).toMatchObject({ "content-length": "3000000" });
  });

  it.each([
    ["longer", (path: string) => appendFileSync(path, "more")],
    ["shorter", (path: string) => truncateSync(path, 5)],
  ])("put stores nothing of a file that becomes %s while it is read", async (_, change) => {
    const large = fileOf(Buffer.alloc(3_000_000));
    const { path, run, send } = await twoVaults({ before: (name) => void (name.startsWith("GET") && change(large)) });
    expect(await run(`file put ${TITLE} ${large}`)).toMatchObject(ends(5, "changed while it was read"));
    expect(await send("GET", `${path}/files`)).toHaveLength(1);
  });

  it("get leaves nothing of a download that ends early", async () => {
    const { id, run } = await twoVaults({ content: "x".repeat(300_000), cutAfter: cutContents });
    const cwd = newFolder();
    expect(await run(`file get ${id} notes.txt`, { cwd })).toMatchObject({ code: 6 });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("get uses only the last part of a name of the service, and makes the file with mode 0600", async () => {
    const { id, path, run, send } = await twoVaults();
    await send("POST", `${path}/files?name=..%2F..%2Fevil`, "evil");
    const cwd = newFolder();
    expect((await run(`file get ${id} ../../evil -o .`, { cwd })).code).toBe(0);
    expect(existsSync(join(cwd, "evil")) && modeOf(join(cwd, "evil"))).toBe(0o600);
  });

  it.each([
    ["an Item that does not exist", 4, "none", []],
    ["a File to replace that does not exist", 4, "ID", ["--replace", "none"]],
    ["a section that the service refuses", 2, "ID", ["--section", "s".repeat(300)]],
  ])("put ends after a failure while stdin is open: %s", async (_, code, item, options) => {
    const { from, id, env } = await twoVaults();
    const args = ["file", "put", item.replace("ID", id), "-", "--name", "f", "--vault", from, ...options];
    const { child, ended } = startCli(args, { env });
    child.stdin.on("error", () => undefined); // the process ends before it has read everything
    child.stdin.write("the first bytes");
    expect(await ended).toMatchObject({ code, signal: null });
  });
});

describe("a list with an entry whose stored record does not open", () => {
  it.each([
    ["item list", "items", /^1111\S+ .*\(cannot be decrypted\)/m, new RegExp(TITLE)],
    ["item versions", "items/ID/versions", /^1 +\(cannot be decrypted\)/m, /^\d+ +20.*Renamed +current$/m],
  ])("is shown whole by `%s`, and only the broken entry lacks its attributes", async (command, path, broken, sound) => {
    const answers: Record<string, object> = {};
    const { from, id, rename, run, send } = await twoVaults({ answer: (name) => answers[name] });
    await rename(command === "item list" ? TITLE : "Renamed");
    const listed = `${from}/${path.replace("ID", id)}`;
    const entries = (await send("GET", listed)) as { version: number; current?: boolean }[];
    const first = { id: "11111111-1111-4111-8111-111111111111", vault: { id: from }, version: 3, broken: "integrity" };
    const answer =
      command === "item list"
        ? [first, ...entries]
        : entries.map((entry) => (entry.version === 1 ? { version: 1, current: false, broken: "integrity" } : entry));
    answers[`GET /v1/vaults/${listed}`] = answer;
    const line = command === "item list" ? command : `${command} ${id}`;
    const table = await run(line);
    expect(table).toMatchObject({ code: 0, stderr: "" });
    for (const row of [broken, sound]) expect(table.stdout).toMatch(row);
    expect(JSON.parse((await run(`${line} --format json`)).stdout)).toEqual(answer);
  });
});

/** Two vaults with an Item of two Files, the first of which cannot be decrypted, as the proxy answers (contract 9.14). */
async function damagedFile() {
  const answers: Record<string, object> = {};
  const world = await twoVaults({ answer: (name) => answers[name] });
  const [sound] = (await world.send("GET", `${world.path}/files`)) as [{ id: string }];
  const { id: damaged } = await world.send("POST", `${world.path}/files?name=damaged.txt`, "damaged");
  answers[`GET /v1/vaults/${world.path}`] = { ...(await world.read()), files: [sound], brokenFiles: [damaged] };
  return { ...world, damaged: damaged as string, sound: sound.id };
}

describe("a File that does not open", () => {
  it("is named by `item get`, which shows everything else", async () => {
    const { id, damaged, run } = await damagedFile();
    const shown = await run(`item get ${id}`);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(`Files that cannot be decrypted: ${damaged}\n`) });
    expect(shown.stdout).toContain("notes.txt");
    expect(JSON.parse((await run(`item get ${id} --format json`)).stdout)).toMatchObject({ brokenFiles: [damaged] });
  });

  it("is deleted by its id", async () => {
    const { id, path, damaged, sound, run, send } = await damagedFile();
    expect(await run(`file delete ${id} ${damaged}`)).toMatchObject({ code: 0 });
    expect(await send("GET", `${path}/files`)).toMatchObject([{ id: sound }]);
  });

  it.each(["copy", "move"])("prevents `item %s`, which would lose it, in words, and nothing is written", async (command) => {
    const { id, to, damaged, lists, run } = await damagedFile();
    const ran = await run(`item ${command} ${id} --to ${to}`);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(`The item has files that cannot be decrypted: ${damaged}.`);
    expect(await lists()).toMatchObject([[{ id }], []]);
  });

  it("is counted by an export, which has everything else and ends with 7", async () => {
    const { run } = await damagedFile();
    const path = join(newFolder(), "export.json");
    const ran = await run(`export --format item-vault -o ${path}`);
    expect(ran).toMatchObject(ends(7, /1 +Files that the service cannot read, because their stored records are damaged/));
    const text = readFileSync(path, "utf8");
    for (const part of [TITLE, "notes.txt", "horse"]) expect(text).toContain(part);
  });
});
