import type { Item } from "@item-vault/client";
import { showToast } from "../state/toasts.ts";
import { openedOf } from "../state/opened.ts";
import type { MenuAction } from "../ui/menu.tsx";
import type { Target } from "./build.ts";

/** The actions of menus that copy references. */

let loaded: typeof import("./copy.ts") | undefined;

/** Loads the script when a menu opens, because Safari permits copying only directly after a click. */
export async function loadReferences(): Promise<void> {
  loaded ??= await import("./copy.ts").catch(() => undefined);
}

async function run(target: Target, item: Item, attribute?: "otp"): Promise<void> {
  if (!loaded) await loadReferences();
  if (loaded) loaded.copyReference(target, item, attribute);
  else showToast("Part of the console could not be loaded. Reload the page.", "failed");
}

/** References stand for the current version of an Item, so earlier versions and deleted Items have none. */
export function referenceActions(target: Target, item: Item): MenuAction[] {
  if (!openedOf(item)) return [];
  const value = { label: "Copy reference", run: () => void run(target, item) };
  if (!("field" in target) || target.field.type !== "OTP") return [value];
  return [
    { label: "Copy reference to the code", run: () => void run(target, item, "otp") },
    { ...value, label: "Copy reference to the key" },
  ];
}
