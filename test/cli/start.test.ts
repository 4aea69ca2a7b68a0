import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { ensureSecrets } from "../../scripts/secrets.ts";

it("npm start names to wrangler every variable of .dev.vars that it does not read by itself, and no value", () => {
  const path = join(mkdtempSync(join(tmpdir(), "item-vault-")), ".dev.vars");
  const secrets = "ADMIN_TOKEN=a\nMETRICS_TOKEN=m\nROOT_KEYS='{}'\n";
  writeFileSync(path, `${secrets}WEBHOOK_TEST_ORIGIN=http://127.0.0.1:9000\nTOKENS_NOT_BEFORE=2026-11-22T00:00:00Z\n`);
  const { adminToken, variables } = ensureSecrets(path);
  expect([adminToken, variables.toSorted()]).toEqual(["a", ["TOKENS_NOT_BEFORE", "WEBHOOK_TEST_ORIGIN"]]);
});

/** The path of a `.dev.vars` with a text, or where there is none. */
function pathOf(text?: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "item-vault-")), ".dev.vars");
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

describe("npm start -- --restore", () => {
  it.each([
    ["needs more secrets", "ROOT_KEYS='{}'\n"],
    ["has all secrets", "ROOT_KEYS='{}'\nADMIN_TOKEN=a\nMETRICS_TOKEN=m\n"],
  ])("lets nobody else read a .dev.vars that was written by hand and %s", (_, text) => {
    const path = pathOf(text);
    chmodSync(path, 0o644);
    ensureSecrets(path, true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
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
