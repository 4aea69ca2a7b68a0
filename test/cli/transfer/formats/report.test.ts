import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { chooseImport } from "../../../../packages/cli/src/transfer/formats.ts";
import { describeLosses, describeSource } from "../../../../packages/cli/src/transfer/report.ts";
import { fitTransfer } from "../../../../packages/transfer/src/fit.ts";
import { folderOf } from "../../support/files.ts";
import { runHere } from "../../support/here.ts";
import { vaultOf } from "../../support/login.ts";
import { zippedVault } from "./bitwarden-fixture.ts";
import { makeDatabase, save } from "./keepass-fixture.ts";
import { jsonBytes, read, utf8 } from "./reading.ts";
import { CHROME, DOTENV, FIREFOX, VAULT_KV } from "./text-fixture.ts";

const KEY = new Uint8Array(32).fill(7);

const SOURCES: readonly [format: string, fileName: string, make: () => Uint8Array | Promise<Uint8Array>][] = [
  ["bitwarden", "bitwarden.zip", zippedVault],
  ["keepass", "passwords.kdbx", async () => await save(await makeDatabase("argon2id", { password: "correct", keyFile: KEY }))],
  ["chrome", "chrome.csv", () => utf8(CHROME)],
  ["firefox", "firefox.csv", () => utf8(FIREFOX)],
  ["dotenv", ".env", () => utf8(DOTENV)],
  ["vault-kv", "secrets.json", () => jsonBytes(VAULT_KV)],
];

/** The report of an import as the command prints it. */
async function reportOf(format: string, fileName: string, bytes: Uint8Array): Promise<string> {
  const chosen = chooseImport(bytes, fileName, undefined);
  const transfer = await read(chosen, bytes, { fileName, secret: "correct", keyFile: KEY });
  const { items, losses, unfit } = fitTransfer(transfer);
  expect([chosen.name, unfit]).toEqual([format, []]);
  return describeSource(format, items) + describeLosses(losses.list());
}

it("the loss report of bitwarden is in docs/import.md", async () => {
  expect(readFileSync("docs/import.md", "utf8")).toContain(await reportOf("bitwarden", "bitwarden.zip", zippedVault()));
});

describe("import", () => {
  it.each(SOURCES)("writes what %s has to the service", async (format, fileName, make) => {
    const { vault, env, send } = await vaultOf(format);
    const bytes = await make();
    const folder = folderOf({ [fileName]: bytes, password: "correct\n", key: KEY });
    const line = `import ${fileName} --vault ${vault} --password-file password --key-file key`;
    const ran = await runHere(line, { env, cwd: folder });
    const items: unknown[] = await send("GET", "/items?archived=true");
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stdout).toBe(`${await reportOf(format, fileName, bytes)}Imported: ${items.length} created\n`);
  });
});
