import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { inject, onTestFinished } from "vitest";
import { launchBrowser } from "./launch.ts";
import { acceptDialogs, failOfProblems, watchProblems } from "./problems.ts";
import { sessionCookie } from "./session.ts";

export interface PageOptions {
  /** CSS pixels. */
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  /** The text of a token, or of ADMIN_TOKEN. The page has a session of it, which the API has made. */
  readonly token?: string;
  /** Origins besides the service's to which the page may send requests. */
  readonly origins?: readonly string[];
  /**
   * Opens a page of its own, which no test has used before. Needed by a test that installs a clock, counts the entries of the history or
   * searches the memory of the page.
   */
  readonly fresh?: boolean;
  /** Further options of Playwright: `{ reducedMotion: "reduce" }`. The page is a fresh one. */
  readonly context?: BrowserContextOptions;
}

/** A page and the function that closes it, which throws when the page had a problem (problems.ts). */
export interface Opened {
  readonly page: Page;
  readonly close: () => Promise<void>;
}

/**
 * Pages that tests have closed and later tests use, without the cookies, storage and routes of the earlier ones. Most of the time of a
 * test with a new page goes into starting a process for it, and into loading and compiling the scripts of the console.
 */
const idle: Page[] = [];

/**
 * The file that an idle page shows. Its headers isolate it as those of the console do (Cross-Origin-Opener-Policy), so that the browser
 * keeps the process of the page. It would start another one for `about:blank`, and once more for the console.
 */
const LEFT = "/docs/style.css";

/** The origin of the service, without a slash at the end. */
export const serviceOrigin = (): string => new URL(inject("url")).origin;

/**
 * Opens an empty page with cookies, storage and permissions of its own. Paths in `page.goto` are those of the service. The
 * clipboard may be written and not read, as in Chrome (`readClipboard`). The page closes when the test ends, and the test fails if the page had a problem (problems.ts).
 */
export async function openPage(options: PageOptions = {}): Promise<Page> {
  const { page, close } = await startPage(options);
  onTestFinished(close);
  return page;
}

/** The same for a page that the tests of a file share: `beforeAll(async () => { const { page, close } = …; return close; })`. */
export async function startPage(options: PageOptions = {}): Promise<Opened> {
  const { width = 1280, height = 800, colorScheme = "light", token, origins = [] } = options;
  const reusable = options.fresh !== true && options.context === undefined;
  const page = (reusable ? idle.pop() : undefined) ?? (await makePage(await launchBrowser(), options.context));
  const context = page.context();
  watchProblems(context, [serviceOrigin(), ...origins]);
  await page.setViewportSize({ width, height });
  // Without transitions, axe sees colours as they remain, and the browser draws fewer frames.
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  if (token !== undefined) await context.addCookies([await sessionCookie({ token })]);
  const close = async (): Promise<void> => {
    try {
      await failOfProblems(page);
    } finally {
      if (reusable) await empty(page);
      else await context.close();
    }
  };
  return { page, close };
}

async function makePage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    baseURL: serviceOrigin(),
    locale: "en-GB",
    timezoneId: "UTC",
    permissions: ["clipboard-write"],
    ...options,
  });
  // A test that waits for what does not come fails with Playwright's message, and before vitest ends it.
  context.setDefaultTimeout(120_000);
  return context.newPage();
}

/** Removes what a test has left in a page, for the next test. A page for which this fails is closed. */
async function empty(page: Page): Promise<void> {
  const context: BrowserContext = page.context();
  try {
    acceptDialogs(page); // The browser's question about unsaved changes.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.clearCookies();
    await page.evaluate("localStorage.clear(), sessionStorage.clear()").catch(() => undefined); // An empty page has none.
    await page.goto(LEFT);
    for (const other of context.pages()) if (other !== page) await other.close();
    idle.push(page);
  } catch {
    await context.close();
  }
}
