import { expect, it } from "vitest";
import { sendRequest } from "../sdk/support/requests.ts";
import { changeAnswers, listed, openAsBoth, see } from "./support/console.ts";
import { login, seed } from "./support/seed.ts";

/** What the texts of the console say of the settings of the service (contract 24.4). */

it("the views name the settings of the service, not their defaults", async () => {
  const { vault, token, items } = await seed([login("Kept"), login("Gone")]);
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[1]}`, token);
  const page = await openAsBoth(token, "people");
  // Open or closed, by whether other files have invited people.
  const attached = { state: "attached" } as const;
  await page.getByText("This service is not set up for it yet").waitFor(attached);
  const settings = { deletedRetentionDays: 7, versionsKept: 0, people: true };
  await changeAnswers(page, "/console/session", (session) => ({ ...session, settings }));
  await page.reload();
  await page.getByText("This service is set up for it.").waitFor(attached);
  await page.goto("/console/#/deleted");
  await see(page, "Deleted items can be restored for 7 days.");
  await listed(page, "Gone").click();
  const [deleted] = (await sendRequest("GET", `v1/vaults/${vault}/deleted-items`, token)) as [{ deletedAt: string }];
  const until = await page.evaluate(
    (time) => new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" }).format(time),
    Date.parse(deleted.deletedAt) + 7 * 24 * 3600 * 1000,
  );
  await see(page, `can be restored until ${until}`);
  await page.goto(`/console/#/items/${vault}/${items[0]}/history`);
  await see(page, "This service keeps no earlier versions of items.");
  expect(await page.getByText("No earlier version is kept").count()).toBe(0);
});
