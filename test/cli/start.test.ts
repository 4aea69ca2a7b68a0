import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, inject, it } from "vitest";
import { createDemo, loadDemo } from "../../scripts/demo.ts";
import { ensureSecrets } from "../../scripts/secrets.ts";
import { sendRequest } from "../sdk/support/vault.ts";
import { fileOf, modeOf, newFolder } from "./support/files.ts";

/** `npm start` (CONTRIBUTING.md). */

it("npm start names to wrangler every variable of .dev.vars that it does not read by itself, and no value", () => {
  const secrets = "ADMIN_TOKEN=a\nMETRICS_TOKEN=m\nROOT_KEYS='{}'\n";
  const others = "WEBHOOK_TEST_ORIGIN=http://127.0.0.1:9000\nTOKENS_NOT_BEFORE=2026-11-22T00:00:00Z\n";
  const { adminToken, variables } = ensureSecrets(fileOf(secrets + others, ".dev.vars"));
  expect([adminToken, variables.toSorted()]).toEqual(["a", ["TOKENS_NOT_BEFORE", "WEBHOOK_TEST_ORIGIN"]]);
});

/** The path of a `.dev.vars` with a text, or where there is none. */
const pathOf = (text?: string) => (text === undefined ? join(newFolder(), ".dev.vars") : fileOf(text, ".dev.vars"));

describe("npm start -- --restore", () => {
  it.each([
    ["needs more secrets", "ROOT_KEYS='{}'\n"],
    ["has all secrets", "ROOT_KEYS='{}'\nADMIN_TOKEN=a\nMETRICS_TOKEN=m\n"],
  ])("lets nobody else read a .dev.vars that was written by hand and %s", (_, text) => {
    const path = pathOf(text);
    chmodSync(path, 0o644);
    ensureSecrets(path, true);
    expect(modeOf(path)).toBe(0o600);
  });

  it.each([
    ["there is no .dev.vars", undefined],
    ["it has no ROOT_KEYS", "ADMIN_TOKEN=a\n"],
    ["its ROOT_KEYS is empty", "ADMIN_TOKEN=a\nROOT_KEYS=\n"],
  ])("makes no ROOT_KEYS, which would open no backup, when %s", (_, text) => {
    const path = pathOf(text);
    expect(() => ensureSecrets(path, true)).toThrow(`${path} has no ROOT_KEYS. A restore needs those of the deployment`);
    expect(existsSync(path) ? readFileSync(path, "utf8") : undefined).toBe(text);
  });

  it("needs no other line in .dev.vars than ROOT_KEYS: it adds the other secrets", () => {
    const path = pathOf("ROOT_KEYS='{}'");
    const { adminToken } = ensureSecrets(path, true);
    expect(adminToken.length).toBeGreaterThan(31);
    const { ROOT_KEYS, ADMIN_TOKEN, METRICS_TOKEN } = parseEnv(readFileSync(path, "utf8"));
    expect([ROOT_KEYS, ADMIN_TOKEN, METRICS_TOKEN]).toEqual(["{}", adminToken, expect.stringMatching(/^.{32,}$/)]);
  });
});

it("the demo of npm start whose item is gone is made again, and its token is revoked", async () => {
  const path = join(newFolder(), "demo.json");
  const base = new URL(inject("url")).origin;
  const make = () => createDemo(base, inject("secrets").ADMIN_TOKEN, path);
  const first = await make();
  expect(await make()).toEqual(first);
  await sendRequest("DELETE", `v1/vaults/${first.vault}/items/${first.item}`, first.token);
  const second = await make();
  expect([second.vault, loadDemo(path)]).toEqual([first.vault, second]);
  await expect(sendRequest("GET", "v1/token", first.token)).rejects.toThrow("401");
  expect(await sendRequest("GET", "v1/token", second.token)).toMatchObject({ name: "demo" });
  await expect(sendRequest("GET", "v1/token", first.token)).rejects.toThrow("401");
});
