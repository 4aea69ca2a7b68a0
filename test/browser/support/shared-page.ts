import type { Page } from "playwright-core";
import { beforeAll, onTestFailed, onTestFinished } from "vitest";
import { type PageOptions, startPage } from "./page.ts";
import { failOfProblems, watchProblems } from "./problems.ts";

/**
 * A page for several tests of a file, which load the console once: a third of the time of a short test is spent on loading it. Call it
 * outside of the tests. `prepare` makes the options of the page, for example a token; `leave` leaves what the test before has shown. Out: a
 * function for the tests, which returns the page without an Item, a form, a fault or a problem of the test before. The test fails if the
 * page had a problem (problems.ts). Not for tests that end the session, or leave a clock or a dialog.
 */
export function sharePage(prepare: () => Promise<PageOptions>, leave = showNoItem): () => Promise<Page> {
  let page: Page;
  let failed = false;
  beforeAll(async () => {
    const opened = await startPage(await prepare());
    page = opened.page;
    await leave(page);
    return opened.close;
  });
  return async () => {
    const context = page.context();
    if (failed) {
      // A failed test may have left a dialog or a request that is held.
      await page.close();
      page = await context.newPage();
      failed = false;
    }
    onTestFailed(() => void (failed = true));
    await leave(page);
    // What the page does until then, for example with an Item that the test before has deleted, is no problem of this test.
    watchProblems(context);
    onTestFinished(async () => {
      await failOfProblems(page);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
    return page;
  };
}

/** Shows the list of Items, and discards what a form has. */
async function showNoItem(page: Page): Promise<void> {
  await page.goto("/console/#/items");
  const shown = page.locator(".panes:not(.has-item)");
  const discard = page.getByRole("button", { name: "Discard changes" });
  await shown.or(discard).waitFor();
  if (await discard.isVisible()) await discard.click();
  await shown.waitFor();
}
