import type { BrowserContextOptions, Page } from "playwright-core";
import { inject, onTestFinished } from "vitest";
import { launchBrowser } from "./launch.ts";
import { problemsOf, watchProblems } from "./problems.ts";
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
  /** Further options of Playwright: `{ reducedMotion: "reduce" }`. */
  readonly context?: BrowserContextOptions;
}

/** A page and the function that closes it, which throws when the page had a problem (problems.ts). */
export interface Opened {
  readonly page: Page;
  readonly close: () => Promise<void>;
}

/** The origin of the service, without a slash at the end. */
export const serviceOrigin = (): string => new URL(inject("url")).origin;

/**
 * Opens an empty page with cookies, storage and permissions of its own. Paths in `page.goto` are those of the service. The
 * clipboard may be used. The page closes when the test ends, and the test fails if the page had a problem (problems.ts).
 */
export async function openPage(options: PageOptions = {}): Promise<Page> {
  const { page, close } = await startPage(options);
  onTestFinished(close);
  return page;
}

/** The same for a page that the tests of a file share: `beforeAll(async () => { const { page, close } = …; return close; })`. */
export async function startPage(options: PageOptions = {}): Promise<Opened> {
  const { width = 1280, height = 800, colorScheme = "light", token, origins = [] } = options;
  const browser = await launchBrowser();
  const context = await browser.newContext({
    baseURL: serviceOrigin(),
    viewport: { width, height },
    colorScheme,
    locale: "en-GB",
    timezoneId: "UTC",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options.context,
  });
  // A test that waits for what does not come fails with Playwright's message, and before vitest ends it.
  context.setDefaultTimeout(10_000);
  watchProblems(context, [serviceOrigin(), ...origins]);
  if (token !== undefined) await context.addCookies([await sessionCookie({ token })]);
  const page = await context.newPage();
  const close = async (): Promise<void> => {
    await page.evaluate("0").catch(() => undefined); // Messages of the console that are under way come first.
    const problems = problemsOf(context);
    await context.close();
    if (problems.length > 0) throw new Error(`The page had problems:\n${problems.join("\n")}`);
  };
  return { page, close };
}
