/**
 * `npm run bench:console`: the console in a real browser with 10,000 Items: sizes, times, requests and memory. `-- quick` takes 1,000
 * Items, `-- 50000` so many. It fails when a target is missed (TARGETS). Those of times are ratios to a page that only fetches and parses the
 * same list in the same run, because machines differ.
 */
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { findChromium } from "../test/browser/support/chromium.ts";
import { unpackChromium } from "../test/browser/support/unpack.ts";
import { startWorker } from "../test/sdk/support/worker.ts";
import {
  type FirstList,
  measureFirstList,
  measureMemory,
  measurePlainList,
  measureReload,
  measureSearch,
  measureStar,
  type PlainList,
  type Times,
} from "./console/measure.ts";
import { makeItems, makeLink, makeVault } from "./console/seed.ts";
import { ENVIRONMENT } from "./environment.ts";

const quick = process.argv.includes("quick");
const ITEMS = quick ? 1_000 : Number(process.argv[2] ?? 10_000);
const OPENED = quick ? 100 : 1_000;
const SECRETS = {
  ADMIN_TOKEN: "an-admin-token-for-the-bench-only",
  METRICS_TOKEN: "a-metrics-token-for-the-bench-only",
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: btoa("0123456789abcdef0123456789abcdef") } }),
};
const SCRIPTS = "dist/assets/console/assets";

interface Measured {
  /** Kilobytes of gzip, of 1,000 bytes, of the scripts at the start. */
  readonly scripts: number;
  readonly list: FirstList;
  readonly plain: PlainList;
  readonly reload: Times;
  readonly search: Times;
  readonly star: Times;
  /** Bytes. */
  readonly memory: { readonly before: number; readonly after: number };
}

interface Target {
  readonly name: string;
  readonly most: number;
  readonly valueOf: (measured: Measured) => number;
}

const TARGETS: readonly Target[] = [
  { name: "scripts at the start, KB", most: 40, valueOf: ({ scripts }) => scripts },
  { name: "requests one after another", most: 1, valueOf: ({ list }) => list.roundTrips },
  // Measured once, with an empty cache.
  { name: "list / plain list", most: 2.5, valueOf: ({ list, plain }) => list.shown / plain.list.median },
  { name: "rows after a reload / plain list", most: 2, valueOf: ({ reload, plain }) => reload.median / plain.reload.median },
  { name: "a key press in the search / JSON.parse", most: 1, valueOf: ({ search, plain }) => search.median / plain.parse.median },
  { name: "a favourite / JSON.parse", most: 1, valueOf: ({ star, plain }) => star.median / plain.parse.median },
  { name: "heap after and before", most: 1.2, valueOf: ({ memory }) => memory.after / memory.before },
];

/** Prints each target with what was measured. Returns whether one is missed. */
function reportTargets(measured: Measured): boolean {
  const rows = TARGETS.map(({ name, most, valueOf }) => {
    const value = valueOf(measured);
    return { name, value: Number(value.toFixed(2)), most, isMissed: value > most };
  });
  console.table(rows);
  return rows.some(({ isMissed }) => isMissed);
}

/** The latency that is added to each request of a reload, in milliseconds. */
const LATENCY = 150;

/** How many times slower the processor is made for the search and the favourite. */
const SLOWDOWN = 4;

/** Returns the kilobytes of gzip of the files that `counts` accepts. */
function kilobytes(counts: (name: string) => boolean): number {
  const names = readdirSync(SCRIPTS).filter((name) => name.endsWith(".js") && counts(name));
  return names.reduce((sum, name) => sum + gzipSync(readFileSync(`${SCRIPTS}/${name}`)).length, 0) / 1000;
}

const found = findChromium();
if (!found) throw new Error("There is no browser: set CHROME_PATH");
const { executablePath, env } = "packaged" in found ? await unpackChromium(found.packaged) : { ...found, env: {} };
const worker = await startWorker(SECRETS);
const browser = await chromium.launch({ executablePath, env: { ...process.env, ...env }, chromiumSandbox: false });
console.log(`Chromium ${browser.version()}. ${ENVIRONMENT}`);
try {
  const { vault, token } = await makeVault(worker.url, SECRETS.ADMIN_TOKEN);
  await makeItems(worker.url, token, vault, ITEMS);
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();

  const page1 = readFileSync("dist/assets/console/index.html", "utf8");
  const scripts = kilobytes((name) => page1.includes(name));
  console.log(`scripts, gzip: ${scripts.toFixed(1)} KB at the start, ${kilobytes(() => true).toFixed(1)} KB in all`);

  const list = await measureFirstList(page, await makeLink(worker.url, token), ITEMS);
  console.log(`${ITEMS} Items, signing in by a link:`);
  console.log(
    `  first contentful paint ${list.paint.toFixed(0)} ms, list ${list.shown.toFixed(0)} ms after the start of the page`,
  );
  console.log(
    `  requests after the session, one after another: ${list.roundTrips}; ${(list.bytes / 1000).toFixed(0)} KB transferred`,
  );
  console.log(
    `  long tasks over 50 ms: ${list.longTasks.length} (${list.longTasks.map((time) => time.toFixed(0)).join(", ")} ms)`,
  );

  const reload = await measureReload(page, LATENCY);
  console.log(
    `a reload with ${LATENCY} ms of latency: rows after ${reload.median.toFixed(0)} ms, at most ${reload.most.toFixed(0)} ms`,
  );

  const plain = await measurePlainList(browser, page, LATENCY, SLOWDOWN);
  console.log(
    `a page that only fetches and parses the list: ${plain.list.median.toFixed(0)} ms, ${plain.reload.median.toFixed(0)} ms with the latency, JSON.parse ${plain.parse.median.toFixed(0)} ms at 1/${SLOWDOWN} of the speed`,
  );

  const search = await measureSearch(page, SLOWDOWN);
  console.log(
    `a key press in the search at 1/${SLOWDOWN} of the speed: ${search.median.toFixed(0)} ms, at most ${search.most.toFixed(0)} ms`,
  );

  const star = await measureStar(page, SLOWDOWN);
  console.log(
    `a favourite in the list after its answer at 1/${SLOWDOWN} of the speed: ${star.median.toFixed(0)} ms, at most ${star.most.toFixed(0)} ms`,
  );

  const memory = await measureMemory(page, OPENED);
  console.log(
    `heap after ${OPENED} Items were opened and closed: ${(memory.after / 1e6).toFixed(1)} MB (${(memory.after / memory.before).toFixed(2)} × ${(memory.before / 1e6).toFixed(1)} MB before)`,
  );

  if (reportTargets({ scripts, list, plain, reload, search, star, memory })) process.exitCode = 1;
} finally {
  await browser.close();
  await worker.close();
}
