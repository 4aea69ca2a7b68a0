import { it } from "vitest";
import { openPage } from "./support/page.ts";
import { expectScreenshot } from "./support/screenshot.ts";

/** The pictures of the documentation. `npm run screenshots` writes them; without it, their sizes are checked. */

it("the reference page", async () => {
  const page = await openPage({ width: 1120, height: 700 });
  await page.goto("/docs/#createItem");
  await expectScreenshot(page, "reference");
});
