import type { Opened } from "../state/opened.ts";
import { formatTime } from "../ui/time.ts";

/** The tags of an Item, and when it was written. */
export function Details({ opened: { item } }: { readonly opened: Opened }) {
  return (
    <footer class="details">
      {item.tags.length > 0 && (
        <ul class="tags" aria-label="Tags">
          {item.tags.map((tag) => (
            <li key={tag}>{tag}</li>
          ))}
        </ul>
      )}
      <p class="quiet">
        Changed <time dateTime={item.updatedAt}>{formatTime(item.updatedAt)}</time>, created{" "}
        <time dateTime={item.createdAt}>{formatTime(item.createdAt)}</time>, version {item.version}
      </p>
    </footer>
  );
}
