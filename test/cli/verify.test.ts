import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { makeVault } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";

const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };

it("admin verify checks a vault and ends with code 0", async () => {
  const vault = await makeVault("Verified");
  const ran = await runHere(["admin", "verify", "--vault", vault], { env });
  expect(ran).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/^Checked .* rows, .*\nNothing is wrong\.\n$/),
  });
});

it("admin verify repairs no backup", async () => {
  expect(await runHere(["admin", "verify", "--backup", "--repair"], { env })).toMatchObject({ code: 2 });
});

const VAULT = "5f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09";
const hash = (text: string) => createHash("sha256").update(text).digest("hex");

/** A folder with two snapshots of one part each. */
function writeFolder(): { readonly folder: string; readonly path: (name: string) => string } {
  const folder = mkdtempSync(join(tmpdir(), "verify-"));
  const path = (name: string) => join(folder, "vaults", VAULT, name);
  mkdirSync(path("parts"), { recursive: true });
  const part = `${JSON.stringify({ format: 1, deployment: "d", vault: VAULT, replaces: [] })}\n`;
  writeFileSync(path(`parts/${hash(part)}`), part);
  let predecessor: string | null = null;
  for (const number of [1, 2]) {
    const parts = [{ sha256: hash(part), bytes: part.length, rows: 0 }];
    const text = `${JSON.stringify({ format: 1, deployment: "d", vault: VAULT, number, predecessor, at: 0, schema: 4, parts })}\nk1 ${"0".repeat(64)}\n`;
    writeFileSync(path(`0000000${number}.manifest`), text);
    predecessor = hash(text);
  }
  return { folder, path: (name) => path(name === "part" ? `parts/${hash(part)}` : name) };
}

const verifyFolder = async (folder: string) => {
  const ran = await runHere(["admin", "verify", "--folder", folder, "--format", "json"]);
  return { ...ran, kinds: (JSON.parse(ran.stdout) as { findings: { kind: string }[] }).findings.map(({ kind }) => kind) };
};

it("admin verify --folder checks hashes and the chain without a service, and says what it did not check", async () => {
  const { folder, path } = writeFolder();
  const sound = await verifyFolder(folder);
  expect(sound).toMatchObject({ code: 0, kinds: [], stderr: expect.stringContaining("that needs the root keys") });
  writeFileSync(path("part"), "another text");
  expect(await verifyFolder(folder)).toMatchObject({ code: 7, kinds: ["part_wrong"] });
  rmSync(path("part"));
  writeFileSync(path("00000001.manifest"), "{}\n");
  expect(await verifyFolder(folder)).toMatchObject({ code: 7, kinds: ["manifest_wrong", "part_wrong"] });
  rmSync(path("00000001.manifest"));
  rmSync(folder, { recursive: true });
});
