import type { Request } from "playwright-core";
import { beforeAll, expect, inject, it } from "vitest";
import { OPERATIONS, type OperationId } from "../../src/api/operations.ts";
import counts from "../openapi/counts.json" with { type: "json" };
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { openPage } from "./support/page.ts";
import { makeItems } from "./support/seed.ts";
import { signIn } from "./support/session.ts";
import { type Addressed, viewsOf } from "./support/views.ts";

/**
 * What the views of the console cost: the D1 calls of the requests that a view sends when it is opened, by the calls of each operation
 * (test/openapi/counts.json). The token opens two vaults, of which one has Items.
 */

const ROUTES = Object.entries(OPERATIONS).map(([id, { method, path }]) => ({
  id: id as OperationId,
  method,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`),
}));

/**
 * D1 calls of each view. The reports of the health, which all who ask in 5 seconds share, are left out, and
 * so are the lists of webhooks, one of each vault that has any.
 */
const CALLS = {
  "first view": 14,
  access: 4,
  activity: 1,
  backups: 0,
  deleted: 2,
  "deleted-item": 1,
  edit: 0,
  health: 1,
  history: 1,
  import: 0,
  item: 1,
  "item-activity": 4,
  items: 0,
  keys: 2,
  passwords: 0,
  people: 2,
  tokens: 3,
  use: 0,
  vaults: 1,
  webhooks: 1,
  workloads: 3,
};

let ids: Addressed;
let token: string;

beforeAll(async () => {
  const [vault, other] = [await makeVault("Costs"), await makeVault("Costs, empty")];
  ({ token } = await makeToken({ [vault]: "rwd", [other]: "rwd" }, "uuid"));
  const [item, deleted] = await makeItems(token, vault, [
    { title: "Grafana", fields: [{ id: "password", purpose: "PASSWORD", value: "secret" }] },
    { title: "Old" },
  ]);
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${deleted}`, token);
  ids = { vault, item: item!, deleted: deleted! };
});

it("opening a view takes as many D1 calls as it did, besides the list of Items", async () => {
  const page = await openPage({ width: 1440, fresh: true });
  const sent: OperationId[] = [];
  const inFlight = new Set<Request>();
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    const route = ROUTES.find(({ method, pattern }) => method === request.method() && pattern.test(pathname));
    // The stream of events lasts.
    if (!route || route.id === "streamAllEvents") return;
    sent.push(route.id);
    inFlight.add(request);
  });
  page.on("requestfinished", (request) => void inFlight.delete(request));
  const settle = async () => {
    await page.waitForTimeout(300);
    await expect.poll(() => inFlight.size).toBe(0);
  };
  const calls = () =>
    sent
      .filter((id) => id !== "listWebhooks")
      .reduce((sum, id) => sum + ((counts as Record<string, { calls: number } | undefined>)[id]?.calls ?? 0), 0);
  await signIn(page, token, inject("secrets").ADMIN_TOKEN);
  await page.locator(".rows a").first().waitFor();
  await settle();
  const measured: Record<string, number> = { "first view": calls() };
  for (const [name, path, ready] of viewsOf(ids)) {
    sent.length = 0;
    await page.goto(`/console/#/${path}`);
    await page.locator(ready).first().waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await settle();
    measured[name] = calls();
  }
  expect(measured).toEqual(CALLS);
});

it("the view of webhooks lists the vaults once, and asks those alone that have a webhook", async () => {
  const [hooked, without] = [await makeVault("Hooked"), await makeVault("Without webhooks")];
  await admin("POST", `vaults/${hooked}/webhooks`, { url: "https://costs.example.com/" });
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto("/console/#/webhooks");
  await page.getByRole("row", { name: "https://costs.example.com/" }).waitFor();
  expect(asked.filter((path) => path === "/v1/admin/vaults")).toHaveLength(1);
  expect(asked).toContain(`/v1/admin/vaults/${hooked}/webhooks`);
  expect(asked).not.toContain(`/v1/admin/vaults/${without}/webhooks`);
});
