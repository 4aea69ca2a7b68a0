import { call } from "../api/client.ts";
import { type RestorablePart, withPart } from "../items/comparison.ts";
import { draftOf } from "../items/draft.ts";
import type { Opened } from "../state/opened.ts";
import type { Written } from "../state/written.ts";
import { loadVersion } from "./load-version.ts";

/** Restores one attribute or field of an earlier version, and leaves the rest of the Item as it is. */

/** Errors: throws an ItemVaultError; 412 when the Item was changed since it was loaded. */
export async function restorePart({ item, etag }: Opened, version: number, part: RestorablePart): Promise<Written> {
  const before = await loadVersion(item, version);
  const { operationsOf } = await import("../edit/requests.ts");
  const now = draftOf(item);
  const body = operationsOf(now, withPart(now, draftOf(before), part));
  const path = { vault: item.vault.id, item: item.id };
  return call("PATCH /v1/vaults/{vault}/items/{item}", { path, headers: { "If-Match": etag }, body });
}
