import type { Browser, Page } from "playwright-core";

/** What is measured in the page. Times in milliseconds, sizes in bytes. */

export interface FirstList {
  readonly paint: number;
  readonly shown: number;
  /** Requests to the API that waited for one another, after the session. */
  readonly roundTrips: number;
  readonly bytes: number;
  readonly longTasks: readonly number[];
}

/** What several measurements of one time give. */
export interface Times {
  readonly median: number;
  readonly most: number;
}

function summarize(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b);
  return { median: sorted[sorted.length >> 1]!, most: sorted.at(-1)! };
}

const ROWS = ".rows a";

const TURNS = 5;
/** Even, so that the Item ends as it began. The median of 6 varied from 0.7 to 1.1 × that of `JSON.parse` between runs. */
const STAR_TURNS = 20;

/** Opens the page with an empty cache, signs in, and waits for the list. */
export async function measureFirstList(page: Page, link: string, items: number): Promise<FirstList> {
  let bytes = 0;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  // In the page, because Playwright looks only every half a second whether an element is there.
  await page.addInitScript((rows) => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    const observer = new MutationObserver(() => {
      if (!document.querySelector(rows)) return;
      observer.disconnect();
      // The first callback runs before the frame is drawn, the task after it when it was drawn.
      requestAnimationFrame(() => setTimeout(() => Object.assign(globalThis, { shown: performance.now() })));
    });
    observer.observe(document, { childList: true, subtree: true });
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: "longtask",
    });
  }, ROWS);
  await page.goto(link);
  await page.locator(`.count:has-text("${items.toLocaleString("en")} Items")`).waitFor({ timeout: 120_000 });
  return page.evaluate(async (transferred) => {
    const measured = globalThis as unknown as { shown?: number; tasks: number[] };
    while (measured.shown === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    const { shown } = measured;
    const requests = (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).filter(
      ({ name, responseEnd }) => name.includes("/v1/") && responseEnd <= shown,
    );
    // A request that began after the end of another one waited for it.
    const depth = (end: number): number => {
      const following = requests.filter(({ startTime }) => startTime >= end);
      return following.length === 0 ? 0 : 1 + depth(Math.min(...following.map(({ responseEnd }) => responseEnd)));
    };
    return {
      paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      shown,
      roundTrips: depth(0),
      bytes: transferred,
      longTasks: measured.tasks,
    };
  }, bytes);
}

/**
 * Reloads a page that sets `shown` to the time since its start, several times, with a latency that is added to each request. Returns the
 * times from the start of the page to the frame in which the list has rows.
 */
export async function measureReload(page: Page, latency: number): Promise<Times> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  const conditions = { offline: false, latency, downloadThroughput: -1, uploadThroughput: -1 };
  await devtools.send("Network.emulateNetworkConditions", conditions);
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    await page.reload();
    const shown = await page.waitForFunction(() => (globalThis as unknown as { shown?: number }).shown);
    times.push((await shown.jsonValue()) as number);
  }
  await devtools.detach();
  return summarize(times);
}

/** What the browser and the service need for the same list without the console, on the same machine. */
export interface PlainList {
  /** From the start of a page that only fetches and parses the list to the frame after it. */
  readonly list: Times;
  /** The same with the latency of `measureReload`. */
  readonly reload: Times;
  /** `JSON.parse` of the list, with the processor slowed down. */
  readonly parse: Times;
}

/** Measures a page that is signed in. Another page with the same session fetches its list. */
export async function measurePlainList(browser: Browser, page: Page, latency: number, slowdown: number): Promise<PlainList> {
  const url = await page.evaluate(
    () => performance.getEntriesByType("resource").find(({ name }) => name.includes("/items?"))!.name,
  );
  // A page without scripts has a policy that forbids requests.
  const context = await browser.newContext({ bypassCSP: true, storageState: await page.context().storageState() });
  const plain = await context.newPage();
  await plain.addInitScript(async (list) => {
    const response = await fetch(list, { headers: { "Item-Vault-Console": "1" } });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    Object.assign(globalThis, { list: JSON.parse(text) as unknown, text });
    requestAnimationFrame(() => setTimeout(() => Object.assign(globalThis, { shown: performance.now() })));
  }, url);
  await plain.goto(new URL("/heartbeat", url).href);
  const list = await measureReload(plain, 0);
  const reload = await measureReload(plain, latency);
  const devtools = await context.newCDPSession(plain);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  const parse = await plain.evaluate((turns) => {
    const { text } = globalThis as unknown as { text: string };
    return Array.from({ length: turns }, () => {
      const begin = performance.now();
      JSON.parse(text);
      return performance.now() - begin;
    });
  }, TURNS);
  await context.close();
  return { list, reload, parse: summarize(parse) };
}

/** From a key press to the frame that shows its results, with the processor slowed down. */
export async function measureSearch(page: Page, slowdown: number): Promise<Times> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  const times = await page.evaluate(async () => {
    const field = document.querySelector<HTMLInputElement>("input[type=search]")!;
    const measured: number[] = [];
    for (const query of ["g", "gr", "gra", "graf", "grafa", "", "h", "ho", "host-9", "user99", "user999", "team-1", ""]) {
      const begin = performance.now();
      field.value = query;
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      // The first callback runs before the frame is drawn, the task after it when it was drawn.
      await new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      measured.push(performance.now() - begin);
    }
    return measured;
  });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  return summarize(times);
}

/**
 * From the answer to a write of an Item to the frame in which the list shows it, with the processor slowed down: the first Item becomes a
 * favourite, and then none, several times.
 */
export async function measureStar(page: Page, slowdown: number): Promise<Times> {
  await page.locator(ROWS).first().click();
  await page.getByRole("button", { name: "Favorite" }).waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  const times = await page.evaluate(async (turns) => {
    const measured: number[] = [];
    // The function is sent to the page as a whole.
    // oxlint-disable-next-line unicorn/consistent-function-scoping
    const isStarred = () => document.querySelector(".rows a[aria-current] .favorite") !== null;
    for (let turn = 0; turn < turns; turn++) {
      const before = isStarred();
      performance.clearResourceTimings();
      [...document.querySelectorAll<HTMLElement>(".item .actions button")].find((one) => one.textContent === "Favorite")!.click();
      while (isStarred() === before) await new Promise<void>((resolve) => setTimeout(resolve));
      await new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      const shown = performance.now();
      const write = (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).find(({ name }) =>
        name.includes("/items/"),
      )!;
      measured.push(shown - write.responseEnd);
      await new Promise<void>((resolve) => setTimeout(resolve, 500));
    }
    return measured;
  }, STAR_TURNS);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  return summarize(times);
}

/** The heap before and after Items were opened and closed one after another. */
export async function measureMemory(page: Page, count: number): Promise<{ before: number; after: number }> {
  const devtools = await page.context().newCDPSession(page);
  const heap = async (): Promise<number> => {
    await devtools.send("HeapProfiler.collectGarbage");
    return (await devtools.send("Runtime.getHeapUsage")).usedSize;
  };
  const keys = await page.evaluate(async (wanted) => {
    const [vault] = (await (await fetch("/v1/vaults", { headers: { "Item-Vault-Console": "1" } })).json()) as { id: string }[];
    const list = await fetch(`/v1/vaults/${vault!.id}/items?limit=100`, { headers: { "Item-Vault-Console": "1" } });
    const items = (await list.json()) as { id: string }[];
    return Array.from({ length: wanted }, (_, index) => `${vault!.id}/${items[index % items.length]!.id}`);
  }, count);
  /** Opens an Item by the vault and the id that the page names. */
  const open = async (key: string): Promise<void> => {
    await page.evaluate((hash) => (location.hash = hash), `#/items/${key}`);
    await page.waitForFunction((opened) => document.querySelector("article")?.dataset["item"] === opened, key);
  };
  for (const key of keys.slice(0, 20)) await open(key);
  const before = await heap();
  for (const key of keys) await open(key);
  await page.evaluate(() => (location.hash = "#/items"));
  await page.locator("article").waitFor({ state: "detached" });
  return { before, after: await heap() };
}
