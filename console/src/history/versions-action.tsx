import { formatRoute } from "../routes.ts";
import type { Opened } from "../state/opened.ts";

/** The link from an Item to its versions. */
export function VersionsAction({ opened: { item } }: { readonly opened: Opened }) {
  return (
    <a class="button" href={formatRoute({ view: "items", vault: item.vault.id, item: item.id, page: "versions" })}>
      Versions
    </a>
  );
}
