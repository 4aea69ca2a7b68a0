import { env } from "cloudflare:workers";
import { it } from "vitest";
import { backUpAll, backUp } from "../support/backup.ts";
import { countingDatabase } from "../support/bindings.ts";
import { login, seedItems } from "../support/seed.ts";
import { restore } from "../support/restores.ts";
import { freshVault, LOGIN, makeVault, admin } from "../support/service.ts";
const counting = () => {
  const count: Record<string, number> = {};
  const bucket = new Proxy(env.BACKUPS, {
    get(t, n) {
      const o = Reflect.get(t, n) as any;
      if (typeof o !== "function") return o;
      return (...v: any[]) => {
        count[String(n)] = (count[String(n)] ?? 0) + 1;
        return o.apply(t, v);
      };
    },
  });
  return { bucket, count };
};
it("idle", async () => {
  for (let n = 0; n < 100; n++) await makeVault();
  await backUpAll();
  const { bucket, count } = counting();
  const { count: d1, db } = countingDatabase();
  const begun = Date.now();
  const made = await backUpAll({ BACKUPS: bucket, DB: db });
  console.log("IDLE", JSON.stringify({ made: made.made, unchanged: made.unchanged, count, d1, ms: Date.now() - begun }));
}, 60_000);
it("10,000", async () => {
  const fresh = await freshVault();
  await seedItems(
    env,
    fresh.vault,
    Array.from({ length: 10_000 }, (_, i) => login(fresh.vault, `Item ${i}`)),
  );
  await fresh.call("POST", fresh.items, { body: LOGIN });
  let t = Date.now();
  const made = await backUp(fresh.vault);
  console.log("BACKUP", Date.now() - t, JSON.stringify(made).slice(0, 300));
  await admin("DELETE", `/v1/admin/vaults/${fresh.vault}`);
  t = Date.now();
  const r = await restore({ vault: fresh.vault });
  console.log("RESTORE", Date.now() - t, JSON.stringify(r.body).slice(0, 200));
}, 60_000);
it("50,000", async () => {
  const fresh = await freshVault();
  for (let k = 0; k < 5; k++)
    await seedItems(
      env,
      fresh.vault,
      Array.from({ length: 10_000 }, (_, i) => login(fresh.vault, `Item ${k} ${i}`)),
    );
  const { body } = await fresh.call("POST", fresh.items, { body: LOGIN });
  let t = Date.now();
  await backUp(fresh.vault);
  const first = Date.now() - t;
  await fresh.call("PATCH", `${fresh.items}/${body.id}`, { body: [{ op: "replace", path: "/title", value: "x" }] });
  const { bucket, count } = counting();
  t = Date.now();
  const made = await backUp(fresh.vault, { env: { BACKUPS: bucket } });
  console.log("50000", first, Date.now() - t, JSON.stringify({ count, made }));
}, 120_000);
