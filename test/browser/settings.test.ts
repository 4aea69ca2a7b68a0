import { expect, inject, it } from "vitest";
import { sendRequest } from "../sdk/support/requests.ts";
import { openPage } from "./support/page.ts";
import { login, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** What the texts of the console say of the settings of the service (contract 24.4). */

it("the views name the settings of the service, not their defaults", async () => {
  const { vault, token, items } = await seed([login("Kept"), login("Gone")]);
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[1]}`, token);
  const page = await openPage();
  await signIn(page, token, inject("secrets").ADMIN_TOKEN);
  await page.goto("/console/#/people");
  // Open or closed, by whether other files have invited people.
  await page.getByText("This service is not set up for it yet").waitFor({ state: "attached" });
  await page.route("**/console/session", async (route) => {
    const headers = { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" };
    const response = await route.fetch({ headers });
    const session = (await response.json()) as object;
    const settings = { deletedRetentionDays: 7, versionsKept: 0, people: true };
    return route.fulfill({ response, json: { ...session, settings } });
  });
  await page.reload();
  await page.getByText("This service is set up for it.").waitFor({ state: "attached" });
  await page.goto("/console/#/deleted");
  await page.getByText("Deleted items can be restored for 7 days.").waitFor();
  await page.locator(".rows").getByRole("link", { name: "Gone" }).click();
  const [deleted] = (await sendRequest("GET", `v1/vaults/${vault}/deleted-items`, token)) as [{ deletedAt: string }];
  const until = await page.evaluate(
    (time) => new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" }).format(time),
    Date.parse(deleted.deletedAt) + 7 * 24 * 3600 * 1000,
  );
  await page.getByText(`can be restored until ${until}`).waitFor();
  await page.goto(`/console/#/items/${vault}/${items[0]}/history`);
  await page.getByText("This service keeps no earlier versions of items.").waitFor();
  expect(await page.getByText("No earlier version is kept").count()).toBe(0);
});
