import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { DeletedItem } from "@item-vault/client";
import { call } from "../api/client.ts";
import { isGone } from "../api/error-kind.ts";
import { labelOfCategory, titleOf } from "../items/categories.ts";
import { Fields } from "../items/fields.tsx";
import { Urls } from "../items/urls.tsx";
import { addressOf } from "../state/route.ts";
import { vaultName } from "../state/items.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { Icon } from "../ui/icon.tsx";
import { formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";
import { DeletedActions } from "./deleted-actions.tsx";
import { DeletedFiles } from "./deleted-files.tsx";
import { restorableUntil } from "../ui/retention.ts";
import { dropDeleted } from "./state.ts";

/** One deleted Item as it was. Its values are fetched when it is opened, and dropped when another place is opened. */
export function DeletedItemView({ vault, id }: { readonly vault: string; readonly id: string }) {
  const loaded = useSignal<{ readonly item?: DeletedItem; readonly error?: unknown }>({});
  const load = () => {
    loaded.value = {};
    call("GET /v1/vaults/{vault}/deleted-items/{item}", { path: { vault, item: id } }).then(
      ({ data }) => (loaded.value = { item: data }),
      (error: unknown) => {
        if (isGone(error)) dropDeleted(id);
        loaded.value = { error };
      },
    );
  };
  useLayoutEffect(load, []);
  const { item, error } = loaded.value;
  if (error !== undefined) return <Failure error={error} retry={load} />;
  return item ? <Content item={item} /> : <p class="quiet">Loading…</p>;
}

function Content({ item }: { readonly item: DeletedItem }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <article class="item">
      <header>
        <a class="back button plain" href={addressOf({ view: "deleted" })}>
          <Icon name="back" />
          Deleted items
        </a>
        <h1 ref={heading} tabIndex={-1}>
          {titleOf(item)}
        </h1>
        <p class="quiet">
          {labelOfCategory(item.category)} in {vaultName(item.vault.id)} · deleted{" "}
          <time dateTime={item.deletedAt}>{formatTime(item.deletedAt)}</time> by <Who id={item.deletedBy} /> · can be restored
          until {restorableUntil(item.deletedAt, session.value!.settings)}
        </p>
        <DeletedActions item={item} />
      </header>
      <Fields item={item} />
      <Urls opened={{ item, etag: "" }} />
      <DeletedFiles item={item} />
      {item.tags.length > 0 && (
        <ul class="tags" aria-label="Tags">
          {item.tags.map((tag) => (
            <li key={tag}>{tag}</li>
          ))}
        </ul>
      )}
    </article>
  );
}
