import type { Item } from "@item-vault/client";
import { entries, vaults } from "../state/items.ts";
import { openedOf } from "../state/opened.ts";
import { showToast } from "../state/toasts.ts";
import { copy } from "../ui/clipboard.ts";
import { Menu, type MenuAction } from "../ui/menu.tsx";
import type { Surroundings, Target } from "./build.ts";

let loaded: typeof import("./build.ts") | undefined;

/** Loads the script when a menu opens, because Safari permits copying only directly after a click. */
async function loadReferences(): Promise<void> {
  loaded ??= await import("./build.ts").catch(() => undefined);
}

/** The vaults and Items that the session lists. */
export const surroundings = (): Surroundings => ({ vaults: vaults.value, items: entries.value.map(({ item }) => item) });

/** Copies a reference. `attribute` is requested instead of the value. */
async function run(target: Target, item: Item, attribute?: "otp"): Promise<void> {
  if (!loaded) await loadReferences();
  if (!loaded) return void showToast("Part of the console could not be loaded. Reload the page.", "failed");
  const reference = loaded.referenceTo(target, item, surroundings());
  if (reference === undefined) showToast(loaded.NO_REFERENCE, "failed");
  else void copy("Reference", reference + (attribute === undefined ? "" : `?attribute=${attribute}`), { secret: false });
}

/** References stand for the current version of an Item, so earlier versions and deleted Items have none. */
function referenceActions(target: Target, item: Item): MenuAction[] {
  if (!openedOf(item)) return [];
  const value = { label: "Copy reference", run: () => void run(target, item) };
  if (!("field" in target) || target.field.type !== "OTP") return [value];
  return [
    { label: "Copy reference to the code", run: () => void run(target, item, "otp") },
    { ...value, label: "Copy reference to the key" },
  ];
}

type Props = Readonly<{ target: Target; item: Item; name: string; actions: readonly MenuAction[] }>;

export function PartMenu({ target, item, name, actions }: Props) {
  const all = [...referenceActions(target, item), ...actions];
  if (all.length === 0) return null;
  return <Menu label={`More actions for ${name}`} actions={all} onOpen={() => void loadReferences()} />;
}
