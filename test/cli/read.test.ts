import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { sendRequest } from "../sdk/support/vault.ts";
import { vaultWithLogin } from "./support/login.ts";
import { runHere } from "./support/here.ts";

let made: Awaited<ReturnType<typeof vaultWithLogin>>;
let folder: string;
beforeAll(async () => {
  made = await vaultWithLogin();
  folder = mkdtempSync(join(tmpdir(), "item-vault-"));
});
const run = (args: string[], input?: string, env: Record<string, string> = {}) =>
  runHere(args, { env: { ...made.env, ...env }, ...(input === undefined ? {} : { input }) });
const success = (stdout: string) => ({ code: 0, signal: null, stdout, stderr: "" });

describe("read", () => {
  it("prints the value of a reference with a newline, and without one with -n", async () => {
    expect(await run(["read", made.reference("password")])).toEqual(success("correct horse\n"));
    expect(await run(["read", "-n", made.reference("password")])).toEqual(success("correct horse"));
  });

  it("writes a file that only the user reads, and replaces it with --force only", async () => {
    const path = join(folder, "secret");
    const args = ["read", made.reference("password"), "-o", path];
    expect(await run(args)).toEqual(success(""));
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["correct horse", 0o600]);
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining("--force") });
    expect(await run([...args, "--force", "--file-mode", "0640"])).toEqual(success(""));
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it("prints the bytes of a File that is no text", async () => {
    const bytes = new Uint8Array([0, 255, 10, 13]);
    await sendRequest("POST", `v1/vaults/${made.vault}/items/${made.item}/files?name=raw.bin`, made.token, bytes);
    const path = join(folder, "raw");
    expect(await run(["read", made.reference("raw.bin"), "-o", path])).toEqual(success(""));
    expect(new Uint8Array(readFileSync(path))).toEqual(bytes);
  });
});

describe("the exit code", () => {
  it.each([
    ["2 for a malformed reference", "read op://x", 2],
    ["2 for an unknown option, which the message names", "read --nothing op://a/b/c", 2],
    ["2 for a missing argument", "read", 2],
    ["2 for an unknown command", "frobnicate", 2],
    ["4 for a reference that names nothing", "read op://nothing/Database/password", 4],
  ])("is %s", async (_, line, code) => {
    expect(await run(line.split(" "))).toMatchObject({ code, stdout: "" });
  });

  it("is 3 for a token that the service refuses", async () => {
    const refused = await run(["read", "op://a/b/c"], undefined, { ITEM_VAULT_TOKEN: "nonsense" });
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("refuses the token of ITEM_VAULT_TOKEN") });
    expect(refused.stderr).not.toContain("nonsense");
  });

  it("is 6 for a service that does not answer", async () => {
    expect(await run(["read", "op://a/b/c", "--host", "http://127.0.0.1:1"])).toMatchObject({ code: 6 });
  });

  it("is 3 without a token, with the name of the variable to set", async () => {
    expect(await runHere(["read", "op://a/b/c"])).toMatchObject({ code: 3, stderr: expect.stringContaining("ITEM_VAULT_TOKEN") });
  });
});

describe("inject", () => {
  it("writes a template with the values of its references, from stdin to stdout", async () => {
    const template = `user: ${made.reference("username")}\npassword: "{{ op://$V/\${ITEM:-Database}/password }}"\n`;
    expect(await run(["inject"], template, { V: made.vault })).toEqual(success('user: ada\npassword: "correct horse"\n'));
  });

  it("reads and writes files", async () => {
    const [from, to] = [join(folder, "app.tpl"), join(folder, "app.conf")];
    writeFileSync(from, made.reference("password"));
    expect(await run(["inject", "-i", from, "-o", to])).toEqual(success(""));
    expect([readFileSync(to, "utf8"), statSync(to).mode & 0o777]).toEqual(["correct horse", 0o600]);
  });

  it("writes nothing when one reference has no value, and names all that have none", async () => {
    const path = join(folder, "never");
    const template = ["password", "nothing", "none"].map((field) => made.reference(field)).join("\n");
    const refused = await run(["inject", "-o", path], template);
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(refused.stderr).toContain(`${made.reference("nothing")}: The reference names no field`);
    expect(refused.stderr).toContain(made.reference("none"));
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });
});
