import { beforeAll, describe, expect, inject, it } from "vitest";
import { sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { openPage } from "./support/page.ts";
import { login, type Seeded, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** The views of the activity and of the health. */

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed([login("Grafana"), login("GitHub")]);
  for (const item of seeded.items) await sendRequest("GET", `v1/vaults/${seeded.vault}/items/${item}`, seeded.token);
});

describe("the activity", () => {
  it("lists who did what, and is filtered by Item and by kind", async () => {
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/#/activity");
    const created = page.getByRole("row", { name: /created Grafana/ });
    await created.waitFor();
    const rows = page.getByRole("row");
    await page.getByLabel("Filter by Items").selectOption({ label: "GitHub" });
    await created.waitFor({ state: "detached" });
    await page.getByLabel("Filter by requests").selectOption("writes");
    await expect.poll(() => rows.filter({ hasText: "GitHub" }).count()).toBe(1);
    await page.getByRole("button", { name: "Clear" }).click();
    await created.waitFor();
    await page.getByText("Figures").click();
    await page.getByRole("table", { name: "Requests per day" }).getByRole("rowheader").last().waitFor();
  });

  it("and the health have no violation of accessibility, light and dark, wide and narrow", async () => {
    const page = await openPage();
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    for (const view of ["activity", "health"]) {
      await page.goto(`/console/#/${view}`);
      await page.getByRole("row").nth(1).waitFor();
      await page.getByRole("figure").first().waitFor();
      expect(await checkLooks(page)).toBe("");
    }
  });

  it("of the administrator is a log of its own", async () => {
    const page = await openPage();
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    // The newest entries are enough: the log has hundreds of the other test files.
    await page.route("**/v1/admin/activity?*", async (route) => {
      const url = route.request().url().replace("limit=100", "limit=20");
      const response = await route.fetch({
        url,
        headers: { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" },
      });
      const { link: _, ...headers } = response.headers();
      return route.fulfill({ response, headers });
    });
    await page.goto("/console/#/activity");
    await page.getByLabel("Log", { exact: true }).selectOption("admin");
    await expect.poll(() => page.getByRole("row", { name: /the administrator created token/ }).count()).toBeGreaterThan(0);
  });
});

describe("the health", () => {
  it("shows the state of each dependency, the size of the database, and to an administrator the largest vaults", async () => {
    const page = await openPage();
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/health");
    await expect.poll(() => page.getByRole("row", { name: /Database \(D1\) Works/ }).count()).toBe(1);
    await page.getByText(/Database: [\d.]+ [KM]B of 10 GB/).waitFor();
    await page.getByRole("figure", { name: /Largest vaults/ }).waitFor();
  });
});
