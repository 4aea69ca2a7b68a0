import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { otherOrigin } from "./support/other-origin.ts";
import { openPage, serviceOrigin } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { type Seeded, seed } from "./support/seed.ts";
import { signOut } from "./support/session.ts";

/** What the console must not give away, and what other pages must not do with its session. */

const CANARY = "canary-5f3a91c7d2e84b06";

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed([
    {
      title: "Canary",
      fields: [
        { purpose: "PASSWORD", value: CANARY },
        { id: "key", type: "CONCEALED", label: "key", value: `${CANARY}-key` },
      ],
    },
  ]);
});

describe("the files of the console", () => {
  it("have a policy without inline scripts, other hosts, frames and markup from strings", async () => {
    const { headers } = await fetch(`${serviceOrigin()}/console/`);
    const policy = headers.get("Content-Security-Policy")!;
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      expect(policy.split("; ")).toContain(directive);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(headers.get("Cross-Origin-Opener-Policy")).toBe("same-origin");
    expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-origin");
  });

  it("are few: the page needs three scripts to start", async () => {
    const page = await (await fetch(`${serviceOrigin()}/console/`)).text();
    expect(page.match(/\/console\/assets\/[\w-]+\.js/g)).toHaveLength(3);
  });

  it("are cached for ever where their name has a hash, and the page itself is not", async () => {
    const page = await fetch(`${serviceOrigin()}/console/`);
    const [script] = /\/console\/assets\/main-\w+\.js/.exec(await page.text())!;
    expect((await fetch(serviceOrigin() + script)).headers.get("Cache-Control")).toContain("immutable");
    expect(page.headers.get("Cache-Control") ?? "").not.toContain("immutable");
  });
});

/** A snapshot of the page's heap after a collection of garbage: it holds every string that the page can still reach. */
async function heapOf(page: Page): Promise<string> {
  const devtools = await page.context().newCDPSession(page);
  const chunks: string[] = [];
  devtools.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => chunks.push(chunk));
  await devtools.send("HeapProfiler.collectGarbage");
  await devtools.send("HeapProfiler.takeHeapSnapshot");
  await devtools.detach();
  return chunks.join("");
}

/** Where a page could keep a value, besides its memory: its document, its address and its storage. */
async function traces(page: Page): Promise<Record<string, boolean>> {
  const stored = await page.evaluate(async () => {
    const caches = await globalThis.caches.keys();
    const databases = await indexedDB.databases();
    return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, caches, databases, document.cookie, history.state, name]);
  });
  return {
    document: (await page.content()).includes(CANARY),
    fields: await page.evaluate(
      (canary) =>
        [...document.querySelectorAll("input, textarea")].some((field) => (field as HTMLInputElement).value.includes(canary)),
      CANARY,
    ),
    address: page.url().includes(CANARY),
    title: (await page.title()).includes(CANARY),
    storage: stored.includes(CANARY),
  };
}

/** Whether the page's memory has the value. A snapshot takes a second, so the cheap traces are looked for first. */
const remembers = async (page: Page): Promise<boolean> => (await heapOf(page)).includes(CANARY);

describe("a value", () => {
  const NOWHERE = { document: false, fields: false, address: false, title: false, storage: false };

  it("is nowhere in the page before its Item is opened, and after it was left", async () => {
    const page = await openPage({ token: seeded.token, fresh: true });
    await page.goto("/console/");
    await page.getByRole("link", { name: /^Canary Login/ }).waitFor();
    expect(await traces(page)).toEqual(NOWHERE);
    expect(await remembers(page)).toBe(false);
    await page.getByRole("link", { name: /^Canary Login/ }).click();
    await page.getByRole("button", { name: "Reveal password" }).click();
    await page.getByText(CANARY, { exact: true }).waitFor();
    expect(await traces(page)).toMatchObject({ document: true });
    expect(await remembers(page)).toBe(true);
    await page.getByRole("button", { name: "Reveal password" }).click();
    expect(await traces(page)).toEqual(NOWHERE);
    await page.getByRole("button", { name: "Copy password" }).click();
    await page.goto("/console/#/items");
    await page.getByText("Select an item to see it here.").waitFor();
    await page.evaluate(() => navigator.clipboard.writeText(""));
    await expect.poll(() => traces(page)).toEqual(NOWHERE);
    await expect.poll(() => remembers(page), { interval: 500 }).toBe(false);
  });

  it("is nowhere in the page when a check of passwords has ended", async () => {
    const page = await openPage({ token: seeded.token, fresh: true });
    await page.goto("/console/#/passwords");
    await page.getByRole("button", { name: "Check 1 item" }).click();
    await page.getByText("1 item checked").waitFor();
    expect(await traces(page)).toEqual(NOWHERE);
    await expect.poll(() => remembers(page), { interval: 500 }).toBe(false);
  });

  it("is nowhere in the page after signing out", async () => {
    const page = await openPage({ token: seeded.token, fresh: true });
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}`);
    await page.getByRole("button", { name: "Reveal password" }).click();
    await signOut(page);
    await page.getByLabel("Token").waitFor();
    expect(await traces(page)).toEqual(NOWHERE);
    expect(await remembers(page)).toBe(false);
    expect(await page.context().cookies()).toEqual([]);
  });
});

describe("another page in the same browser", () => {
  /** What it tries with the user's cookie: none needs a right that a page does not have. */
  const ATTEMPTS: readonly (readonly [name: string, path: string, init: RequestInit])[] = [
    ["reads", "/v1/vaults", {}],
    ["reads the session", "/console/session", {}],
    [
      "writes an Item",
      "/v1/vaults/VAULT/items",
      { method: "POST", body: '{"title":"forged","category":"LOGIN","vault":{"id":"VAULT"}}' },
    ],
    ["signs the user in as somebody else", "/console/session", { method: "POST", body: "{}" }],
  ];

  it.each(["sameSite", "crossSite"] as const)(
    "on another port of this machine (%s) is refused whatever it sends",
    async (kind) => {
      const other = await otherOrigin("<!doctype html><title>Other</title>");
      const page = await openPage({ token: seeded.token, origins: [other[kind]] });
      expectProblem(page, /40[13]/);
      const statuses: number[] = [];
      page.on("response", (response) => {
        if (response.url().startsWith(serviceOrigin())) statuses.push(response.status());
      });
      await page.goto(other[kind]);
      for (const [, path, init] of ATTEMPTS) {
        const url = serviceOrigin() + path.replace("VAULT", seeded.vault);
        const body = typeof init.body === "string" ? init.body.replaceAll("VAULT", seeded.vault) : undefined;
        await page.evaluate(
          ([to, sent]) => fetch(to, { ...sent, mode: "no-cors", credentials: "include" }).catch(() => undefined),
          [url, body === undefined ? {} : { method: "POST", body }] as const,
        );
      }
      expect(statuses).toHaveLength(ATTEMPTS.length);
      // The cookie goes to other ports of one host, so the request is known and refused; to another site the browser does not send it.
      expect(new Set(statuses)).toEqual(new Set(kind === "sameSite" ? [403] : [401, 403]));
    },
  );

  it("cannot send the header of the console, read an answer, or show the console in a frame", async () => {
    const other = await otherOrigin("<!doctype html><title>Other</title><iframe></iframe>");
    const page = await openPage({ token: seeded.token, origins: [other.sameSite] });
    expectProblem(page, /CORS/);
    expectProblem(page, /Failed to load resource/);
    expectProblem(page, /frame-ancestors/);
    await page.goto(other.sameSite);
    const read = await page.evaluate(
      (origin) =>
        fetch(`${origin}/v1/vaults`, { credentials: "include", headers: { "Item-Vault-Console": "1" } }).then(
          () => "read",
          () => "refused",
        ),
      serviceOrigin(),
    );
    expect(read).toBe("refused");
    const framed = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"));
    await page.evaluate((origin) => (document.querySelector("iframe")!.src = `${origin}/console/`), serviceOrigin());
    await framed;
  });
});
