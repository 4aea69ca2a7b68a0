import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { cleanUp } from "../../src/scheduled.ts";
import { parseSettings } from "../../src/settings.ts";
import { rebindCoordinator } from "../support/bindings.ts";
import { pendingRecordsOf } from "../support/faults.ts";
import { freshFile, pattern } from "../support/files.ts";
import { admin, LOGIN, shareVault, outcome } from "../support/service.ts";

/** The variables of wrangler.toml. That a malformed one makes each data route a 503 (contract 4.8) is in configuration.test.ts. */

const sharedVault = shareVault();

const asEnv = (bindings: Record<string, unknown>) => bindings as Partial<Env>;

describe("a malformed setting", () => {
  it("prevents the inlining of Files: MAX_INLINE_FILE_SIZE_KB=abc does not mean that there is no limit", async () => {
    const { call, one } = await freshFile(pattern(200 * 1024));
    const reply = await call("GET", `${one}?inline_files=true`, { env: asEnv({ MAX_INLINE_FILE_SIZE_KB: "abc" }) });
    expect(reply.status).toBe(503);
  });

  it("prevents the deletion of contents: an empty FILE_RETENTION_DAYS does not mean 0 days", async () => {
    const fresh = await freshFile();
    await rebindCoordinator(fresh.vault, asEnv({ FILE_RETENTION_DAYS: "" }));
    expect((await fresh.writes.DELETE()).status).toBe(503);
    expect((await fresh.call("GET", fresh.one)).status).toBe(200);
    const due = (await pendingRecordsOf(fresh.vault)).map((record) => record.due);
    expect(Math.min(...due)).toBeGreaterThan(Date.now());
  });
});

describe("the flag global_fetch_strictly_public, under which D1 sessions can hang", () => {
  it("makes data routes a 503 that names it, and /health an error of settings", async () => {
    const { items, call } = await sharedVault();
    vi.stubGlobal("Cloudflare", { compatibilityFlags: { global_fetch_strictly_public: true } });
    onTestFinished(() => void vi.unstubAllGlobals());
    const under = { env: {} }; // a new object of bindings, whose settings are parsed anew
    const reply = await call("GET", items, under);
    expect(outcome(reply)).toEqual([503, "misconfigured"]);
    expect(reply.body.message).toContain("global_fetch_strictly_public");
    expect((await call("POST", items, { ...under, body: LOGIN })).status).toBe(503);
    const { dependencies } = (await admin("GET", "/health", under)).body;
    expect(dependencies.find(({ service }: { service: string }) => service === "settings")).toMatchObject({
      status: "ERROR",
      message: expect.stringContaining("global_fetch_strictly_public"),
    });
  });
});

describe("a retention of an unusual time", () => {
  it("of a fraction of a day keeps the entries of the activity log that are younger", async () => {
    const { items, call } = await sharedVault();
    await call("POST", items, { body: LOGIN });
    await cleanUp({ ...env, ...asEnv({ ACTIVITY_RETENTION_DAYS: "1.3333333" }) }, Date.now());
    expect((await call("GET", "/v1/activity")).body.length).toBeGreaterThan(0);
  });

  it("keeps every entry of the activity log when it is longer than the time since 1970", async () => {
    const { call } = await sharedVault();
    const before = (await call("GET", "/v1/activity")).body.length;
    await cleanUp({ ...env, ...asEnv({ ACTIVITY_RETENTION_DAYS: 36_500, ACTIVITY_ARCHIVE_DAYS: 999_999_999 }) }, Date.now());
    expect((await call("GET", "/v1/activity")).body.length).toBeGreaterThanOrEqual(before);
  });

  it("of a fraction of a day lets a File be deleted", async () => {
    const at = await freshFile();
    await rebindCoordinator(at.vault, asEnv({ FILE_RETENTION_DAYS: "1.3333333" }));
    expect((await at.call("DELETE", at.one)).status).toBe(204);
  });
});

describe("parseSettings", () => {
  it.each([
    [{ MAX_INLINE_FILE_SIZE_KB: "100" }, { inlineLimit: 102_400 }],
    [{ MAX_INLINE_FILE_SIZE_KB: 0.5 }, { inlineLimit: 512 }],
    [{ FILE_RETENTION_DAYS: 0 }, { fileRetention: 0 }],
    [{ FILE_RETENTION_DAYS: "31" }, { fileRetention: 31 * 86_400_000 }],
    [{ ACTIVITY_RETENTION_DAYS: 1 }, { activityRetention: 86_400_000 }],
    [{ ACTIVITY_RETENTION_DAYS: "1.000000001" }, { activityRetention: 86_400_000 }],
    [{ ACTIVITY_MAX_MB: "5" }, { activityBytes: 5_000_000 }],
    [{ TOKENS_NOT_BEFORE: undefined }, { tokensNotBefore: 0 }],
    [{ TOKENS_NOT_BEFORE: "1970-01-01T00:00:10Z" }, { tokensNotBefore: 10 }],
  ])("parses numbers and strings: %j gives %j", (bindings, settings) => {
    expect(parseSettings({ ...env, ...bindings } as Env)).toMatchObject({ ok: true, value: settings });
  });

  it.each(["0", "65536", "99999", "08080", ""])("refuses the origin of a test with the port %j, which there is not", (port) => {
    const origin = `http://127.0.0.1:${port}`;
    const AUD = "a".repeat(64);
    for (const [variable, bindings] of [
      ["WEBHOOK_TEST_ORIGIN", (text: string) => ({ WEBHOOK_TEST_ORIGIN: text })],
      ["ACCESS_TEAM", (text: string) => ({ ACCESS_TEAM: text, ACCESS_AUD: AUD })],
    ] as const) {
      const detail = expect.stringMatching(`^${variable} is not`);
      expect(parseSettings({ ...env, ...bindings(origin) })).toMatchObject({ ok: false, failure: { detail } });
      expect(parseSettings({ ...env, ...bindings("http://127.0.0.1:65535") })).toMatchObject({ ok: true });
    }
  });

  it("returns a failure that names the variable and does not contain its value", () => {
    const refused = parseSettings({ ...env, FILE_RETENTION_DAYS: "canary-5a1d" } as unknown as Env);
    expect(JSON.stringify(refused)).not.toContain("canary-5a1d");
    expect(refused).toMatchObject({ failure: { detail: "FILE_RETENTION_DAYS is not a number, or less than 0" } });
  });
});
