import { placeOfList } from "../state/chosen-list.ts";
import type { Opened } from "../state/opened.ts";
import { addressOf } from "../state/route.ts";
import { idOfTag } from "../state/tag-ids.ts";
import { formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";

/** The tags of an Item, and when and by whom it was written. */
export function Details({ opened: { item } }: { readonly opened: Opened }) {
  return (
    <footer class="details">
      {item.tags.length > 0 && (
        <ul class="tags" aria-label="Tags">
          {item.tags.map((tag) => (
            <li key={tag}>
              <a href={addressOf(placeOfList({ kind: "tag", value: idOfTag(tag) }))}>{tag}</a>
            </li>
          ))}
        </ul>
      )}
      <p class="quiet">
        Changed <time dateTime={item.updatedAt}>{formatTime(item.updatedAt)}</time> by{" "}
        <Who id={item.lastEditedBy} vault={item.vault.id} item={item.id} />, created{" "}
        <time dateTime={item.createdAt}>{formatTime(item.createdAt)}</time>, version {item.version}
      </p>
    </footer>
  );
}
