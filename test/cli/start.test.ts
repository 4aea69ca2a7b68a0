import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ensureSecrets } from "../../scripts/secrets.ts";

it("npm start passes every variable of .dev.vars that wrangler does not read by itself, and no secret", () => {
  const path = join(mkdtempSync(join(tmpdir(), "item-vault-")), ".dev.vars");
  const secrets = "ADMIN_TOKEN=a\nMETRICS_TOKEN=m\nROOT_KEYS='{}'\n";
  writeFileSync(path, `${secrets}WEBHOOK_TEST_ORIGIN=http://127.0.0.1:9000\nTOKENS_NOT_BEFORE=2026-11-22T00:00:00Z\n`);
  const variables = { WEBHOOK_TEST_ORIGIN: "http://127.0.0.1:9000", TOKENS_NOT_BEFORE: "2026-11-22T00:00:00Z" };
  expect(ensureSecrets(path)).toEqual({ adminToken: "a", variables });
});
