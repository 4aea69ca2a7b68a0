import type { ItemSummary } from "@item-vault/client";
import { may } from "../state/items.ts";
import { showToast } from "../state/toasts.ts";
import { labelOfCategory } from "./categories.ts";

/** The Items that a session may list, and not read. */

export const UNREADABLE = "You can list this item, but not read it. Ask an administrator for read access.";

export const tellUnreadable = (): void => void showToast(UNREADABLE, "failed");

/** Returns short texts beside the title of an Item. The first counts most, because the end of a line may be cut off. */
export const detailsOf = ({ vault, username, category }: ItemSummary): readonly string[] => [
  ...(may(vault.id, "r") ? [] : ["No read access"]),
  username || labelOfCategory(category),
];
