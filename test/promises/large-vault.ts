import { env } from "cloudflare:workers";
import type { Item } from "../../src/model/item.ts";
import { login, seedItems } from "../support/seed.ts";
import { freshVault } from "../support/service.ts";

/** A fresh vault of `size` Items, called `Item 0` and so on, unless said otherwise. Out: also the id of the first. */
export async function largeVault(size: number, more: Partial<Item> = {}) {
  const fresh = await freshVault();
  const items = Array.from({ length: size }, (_, index) => login(fresh.vault, `Item ${index}`, more));
  await seedItems(env, fresh.vault, items);
  return { ...fresh, first: items[0]!.id };
}
