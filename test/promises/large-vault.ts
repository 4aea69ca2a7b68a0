import { env } from "cloudflare:workers";
import type { Item } from "../../src/model/item.ts";
import { login, seedItems } from "../support/seed.ts";
import { freshVault } from "../support/service.ts";

/** Creates a vault of `size` Items with the titles `Item 0` and so on, unless `more` has a title. Out: the vault and the id of the first Item. */
export async function largeVault(size: number, more: Partial<Item> = {}) {
  const fresh = await freshVault();
  const items = Array.from({ length: size }, (_, index) => login(fresh.vault, `Item ${index}`, more));
  await seedItems(env, fresh.vault, items);
  return { ...fresh, first: items[0]!.id };
}
