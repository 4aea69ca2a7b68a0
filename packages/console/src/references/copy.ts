import type { Item } from "@item-vault/client";
import { copy } from "../ui/clipboard.ts";
import { entries, vaults } from "../state/items.ts";
import { showToast } from "../state/toasts.ts";
import { referenceTo, type Target } from "./build.ts";

const NONE = "This has no reference: its name and ID contain characters that references don’t allow.";

/** Copies a reference. `attribute` is requested instead of the value. */
export function copyReference(target: Target, item: Item, attribute?: "otp"): void {
  const items = entries.value.map((entry) => entry.item);
  const reference = referenceTo(target, item, { vaults: vaults.value, items });
  if (reference === undefined) showToast(NONE, "failed");
  else void copy("Reference", reference + (attribute === undefined ? "" : `?attribute=${attribute}`), { secret: false });
}
