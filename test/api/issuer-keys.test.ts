import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Behaviour } from "../../scripts/webhook-receiver-control.ts";
import { HOUR, MINUTE, SECOND } from "../../src/model/time.ts";
import type { WorkloadKey } from "../../src/model/workload-keys.ts";
import type { FetchFault } from "../../src/requests/issuer-documents.ts";
import { fetchKeys, loadIssuerKeys, planKeys, type StoredKeys } from "../../src/requests/issuer-keys.ts";
import { type Issuer, ISSUERS_ORIGIN, newIssuer, setOf } from "../support/issuers.ts";
import { runs } from "../support/runs.ts";
import { newSigningKey, type SigningKey } from "../support/workload-tokens.ts";

/** The keys of issuers of workload tokens (contract 27.7): how a real server's are fetched, and when. */

let [key, newer] = [] as unknown as [SigningKey, SigningKey];

beforeAll(async () => {
  [key, newer] = [await newSigningKey("ES256"), await newSigningKey("RS256")];
});

const fetchFrom = async ({ url }: Issuer, allowedOrigins = [ISSUERS_ORIGIN]) => {
  const fetched = await fetchKeys(url, allowedOrigins);
  return fetched.ok ? fetched : refused(fetched.cause!.message as FetchFault);
};
const refused = (fault: FetchFault) => ({ ok: false, fault });

describe("the keys of an issuer", () => {
  it.each(["", "/"])("are fetched from where its description says, with %j at the end of its URL", async (ending) => {
    const issuer = await newIssuer([key, newer], ending);
    expect(await fetchFrom(issuer)).toEqual({ ok: true, value: [key.usable, newer.usable] });
    expect(await issuer.requests()).toEqual([1, 1]);
  });

  it("are fetched with no more in the request than what it asks for", async () => {
    const issuer = await newIssuer([key]);
    await fetchFrom(issuer);
    for (const { headers, body } of await issuer.received()) {
      expect([headers["user-agent"], headers["accept"], body]).toEqual(["Item-Vault", "application/json", ""]);
      expect(Object.keys(headers).filter((name) => /cookie|auth|token|referer/.test(name))).toEqual([]);
    }
  });

  it("may be none, and then verify nothing", async () => {
    const issuer = await newIssuer();
    expect(await fetchFrom(issuer)).toEqual({ ok: true, value: [] });
  });

  it("are not fetched from an issuer that the settings do not allow", async () => {
    const issuer = await newIssuer([key]);
    expect(await fetchFrom(issuer, [])).toEqual(refused("url"));
    expect(await issuer.requests()).toEqual([0, 0]);
  });
});

const large = (bytes: number) => ({ json: { keys: [], filler: "x".repeat(bytes) } });

/** What is wrong with an answer, whichever of the two it is. */
const ANSWERS: readonly (readonly [string, Behaviour, FetchFault])[] = [
  ...[301, 302, 303, 307, 308].map((status) => [`the redirect ${status}`, status, "redirect"] as const),
  ...[201, 204, 400, 401, 404, 429, 500, 503].map((status) => [`the status ${status}`, status, "status"] as const),
  ["more than 64 KiB", large(64 * 1024), "size"],
  ["1 MB", large(1_000_000), "size"],
  ["a connection that is closed", "die", "network"],
  ...["", "<html></html>", "[]", "null", "{", '{"a":1}{}', '\ufeff{"keys":[]}', '{"keys":[],"keys":[]}'].map(
    (text) => [`the text ${JSON.stringify(text)}`, { text }, "content"] as const,
  ),
];

/** Those for which a test has to wait. */
const SLOW_ANSWERS: typeof ANSWERS = [
  ["an answer without end", "endless", "size"],
  ["silence", "hang", "timeout"],
  ["an answer that stops in the middle", "stall", "timeout"],
];

describe.concurrent("an issuer is refused, without much of its time, when it sends", () => {
  it.each(SLOW_ANSWERS)("%s as its description", async (_, behaviour, fault) => {
    const issuer = await newIssuer([key]);
    await issuer.describe(behaviour);
    expect(await fetchFrom(issuer)).toEqual(refused(fault));
  });

  it.each(SLOW_ANSWERS)("%s as its keys", async (_, behaviour, fault) => {
    const issuer = await newIssuer([key]);
    await issuer.publish(behaviour);
    expect(await fetchFrom(issuer)).toEqual(refused(fault));
  });

  it("answers that take three seconds together", async () => {
    const issuer = await newIssuer();
    await issuer.describe({ json: { issuer: issuer.url, jwks_uri: issuer.keysUrl }, after: 1_600 });
    await issuer.publish({ json: { keys: [] }, after: 1_600 });
    expect(await fetchFrom(issuer)).toEqual(refused("timeout"));
  });
});

describe("an issuer is refused when it sends", () => {
  it.each(ANSWERS)("%s as its description", async (_, behaviour, fault) => {
    const issuer = await newIssuer([key]);
    await issuer.describe(behaviour);
    expect(await fetchFrom(issuer)).toEqual(refused(fault));
    expect(await issuer.requests()).toEqual([1, 0]);
  });

  it.each(ANSWERS)("%s as its keys", async (_, behaviour, fault) => {
    const issuer = await newIssuer([key]);
    await issuer.publish(behaviour);
    expect(await fetchFrom(issuer)).toEqual(refused(fault));
    expect(await issuer.requests()).toEqual([1, 1]);
  });

  it.each([{}, { keys: {} }, { keys: null }, { keys: "a" }, { Keys: [] }, { keys: Array.from({ length: 101 }, () => ({})) }])(
    "other JSON as its keys: %#",
    async (json) => {
      const issuer = await newIssuer();
      await issuer.publish({ json });
      expect(await fetchFrom(issuer)).toEqual(refused("content"));
    },
  );

  it("the description of another issuer, or one whose URL is spelled otherwise", async () => {
    const issuer = await newIssuer([key]);
    const { url, keysUrl } = issuer;
    const others = [
      `${url}/`,
      url.toUpperCase(),
      `${url} `,
      url.replace("http", "https"),
      url.slice(0, -1),
      "",
      null,
      [url],
      undefined,
    ];
    for (const other of others) {
      await issuer.describe({ json: { issuer: other, jwks_uri: keysUrl } });
      expect(await fetchFrom(issuer)).toEqual(refused("issuer"));
    }
    expect((await issuer.requests())[1]).toBe(0);
  });

  it("a description that sends the service to an address where it may not go", async () => {
    const issuer = await newIssuer([key]);
    const { url, keysUrl } = issuer;
    const others = [
      "http://127.0.0.1:1/keys",
      "https://127.0.0.1/keys",
      "https://metadata.google.internal/",
      "http://a.com/keys",
      "https://a.com:8443/keys",
      "https://keys.service.consul/",
      "https://keys.docker/",
    ];
    for (const other of [
      ...others,
      keysUrl.replace("127.0.0.1", "localhost"),
      "/keys",
      "file:///etc/passwd",
      "",
      null,
      [keysUrl],
      undefined,
    ]) {
      await issuer.describe({ json: { issuer: url, jwks_uri: other } });
      expect(await fetchFrom(issuer)).toEqual(refused("keys_url"));
    }
    expect((await issuer.requests())[1]).toBe(0);
  });
});

/** A time of the clock of the service. */
const NOW = 1_800_000_000_000;

const deferred: Promise<unknown>[] = [];
const context = { waitUntil: (work: Promise<unknown>) => void deferred.push(work) };

async function load({ url }: Issuer, kid: string, now: number) {
  const loaded = await loadIssuerKeys({ issuer: url, allowedOrigins: [ISSUERS_ORIGIN] }, kid, now, context);
  return loaded.ok ? loaded.value : loaded.failure.kind;
}

describe("a request that needs the keys of an issuer", () => {
  it("fetches them at first, and then uses what the isolate has", async () => {
    const issuer = await newIssuer([key]);
    for (const now of [NOW, NOW + 1, NOW + MINUTE, NOW + 9 * MINUTE])
      expect(await load(issuer, key.kid, now)).toEqual([key.usable]);
    expect(await issuer.requests()).toEqual([1, 1]);
  });

  it("finds a key that the issuer has added, and no longer one that it has removed", async () => {
    const issuer = await newIssuer([key]);
    await load(issuer, key.kid, NOW);
    await issuer.publish(setOf(newer));
    expect(await load(issuer, newer.kid, NOW + MINUTE)).toEqual([newer.usable]);
  });

  it("takes no key for more than ten minutes that the issuer has removed", async () => {
    const issuer = await newIssuer([key]);
    await load(issuer, key.kid, NOW);
    await issuer.publish(setOf(newer));
    expect(await load(issuer, key.kid, NOW + 10 * MINUTE - 1)).toEqual([key.usable]);
    expect(await load(issuer, key.kid, NOW + 10 * MINUTE)).toEqual([newer.usable]);
  });

  it("uses the last keys for a day while the issuer does not answer, and none after that", async () => {
    const issuer = await newIssuer([key]);
    await load(issuer, key.kid, NOW);
    await issuer.describe(500);
    for (let hour = 1; hour < 24; hour++) expect(await load(issuer, key.kid, NOW + hour * HOUR)).toEqual([key.usable]);
    expect(await load(issuer, key.kid, NOW + 24 * HOUR)).toBe("issuer_unavailable");
    expect((await issuer.requests())[0]).toBe(25);
  });

  it("shares one fetch with others at the same time, which goes on when their clients leave", async () => {
    const issuer = await newIssuer([key]);
    const first = deferred.length;
    const loaded = await Promise.all(Array.from({ length: 20 }, () => load(issuer, key.kid, NOW)));
    expect(loaded).toEqual(Array.from({ length: 20 }, () => [key.usable]));
    expect([deferred.length - first, await issuer.requests()]).toEqual([1, [1, 1]]);
  });

  it.each<readonly [string, number | undefined, number]>([
    ["answers", undefined, MINUTE],
    ["fails", 500, SECOND],
  ])("with a key id that nobody has leads to few fetches, when the issuer %s", async (_, status, interval) => {
    const issuer = await newIssuer([key]);
    if (status !== undefined) await issuer.describe(status);
    const intervals = 3;
    for (let at = 0; at < intervals * interval; at += interval / 20) await load(issuer, `forged-${at}`, NOW + at);
    expect((await issuer.requests())[0]).toBe(intervals);
  });
});

/** Seconds between two requests: mostly few. */
const pause = fc.oneof(
  fc.integer({ min: 0, max: 90 }),
  fc.integer({ min: 0, max: 20 * 60 }),
  fc.integer({ min: 0, max: 90_000 }),
);

describe("the plan for the keys of an issuer", () => {
  it("never fetches twice in a minute, and uses no keys that are older than a day", () => {
    const steps = fc.array(fc.record({ after: pause, known: fc.boolean(), works: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (requests) => {
        let stored: StoredKeys = { keys: [], fetchedAt: 0, triedAt: 0 };
        let now = NOW;
        for (const { after, known, works } of requests) {
          now += after * SECOND;
          const plan = planKeys(stored, known ? "a" : "b", now);
          const age = now - stored.fetchedAt;
          const fetches = plan === "fetch" || plan === "refresh";
          expect(fetches && now - stored.triedAt < MINUTE).toBe(false);
          expect((plan === "use" || plan === "refresh") && age >= 24 * HOUR).toBe(false);
          // Keys that are there and not old are always used, whatever else goes wrong.
          expect(known && stored.keys.length > 0 && age < 24 * HOUR && plan !== "use" && plan !== "refresh").toBe(false);
          const { keys, fetchedAt } = works ? { keys: [{ kid: "a" } as WorkloadKey], fetchedAt: now } : stored;
          if (fetches) stored = { keys, fetchedAt, triedAt: now };
        }
      }),
      { numRuns: runs(500, 20_000) },
    );
  });

  it.each<readonly [fetched: number, tried: number, kid: string, string]>([
    [0, 0, "a", "use"],
    [10 * MINUTE - 1, 10 * MINUTE - 1, "a", "use"],
    [10 * MINUTE, 10 * MINUTE, "a", "refresh"],
    [10 * MINUTE, MINUTE - 1, "a", "use"],
    [24 * HOUR - 1, MINUTE, "a", "refresh"],
    [24 * HOUR, MINUTE, "a", "fetch"],
    [24 * HOUR, MINUTE - 1, "a", "wait"],
    [MINUTE - 1, MINUTE - 1, "b", "use"],
    [MINUTE, MINUTE, "b", "fetch"],
    [SECOND, SECOND, "b", "use"],
    [HOUR, SECOND, "b", "wait"],
    [HOUR, 4 * SECOND, "b", "wait"],
    // Times that a wrong clock has written.
    [-HOUR, -HOUR, "b", "fetch"],
    [-24 * HOUR, -24 * HOUR, "a", "fetch"],
  ])("for keys of %d ms ago that were last asked for %d ms ago, and the key %s, is to %s", (fetched, tried, kid, plan) => {
    const stored = { keys: [{ kid: "a" } as WorkloadKey], fetchedAt: NOW - fetched, triedAt: NOW - tried };
    expect(planKeys(stored, kid, NOW)).toBe(plan);
  });
});
