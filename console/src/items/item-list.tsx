import { formatRoute } from "../routes.ts";
import { entries, found, listError, listState, loadItems, query, scope, vaultFilter, vaultName, vaults } from "../state/items.ts";
import { route } from "../state/route.ts";
import { Failure } from "../ui/failure.tsx";
import { Icon } from "../ui/icon.tsx";
import { VirtualList } from "../ui/virtual-list.tsx";
import { categoryOf, titleOf } from "./categories.ts";
import { NewItemButton } from "./new-item.tsx";
import { SearchField } from "./search-field.tsx";
import type { Entry } from "../state/search.ts";

/** The list of Items: search, and which Items are listed. */

const ROW_HEIGHT = 56; // pixels, as in style/items.css

export function ItemList() {
  return (
    <section class="pane list" aria-label="Items">
      {route.value.item === undefined && <h1 class="unseen">Items</h1>}
      <SearchField />
      <Content />
    </section>
  );
}

function Content() {
  if (listState.value === "failed") return <Failure error={listError.value} retry={() => void loadItems()} />;
  if (listState.value === "loading") return <p class="quiet">Loading…</p>;
  if (found.value.length === 0) return <Empty />;
  return (
    <VirtualList
      key={`${vaultFilter.value}/${scope.value}`}
      label="Items"
      rows={found.value}
      keyOf={({ item }) => item.id}
      height={ROW_HEIGHT}
      current={route.value.item}
      query={query.value}
      row={(entry, tabIndex) => <Row entry={entry} tabIndex={tabIndex} />}
    />
  );
}

function Row({ entry: { item }, tabIndex }: { readonly entry: Entry; readonly tabIndex: number }) {
  const { label, icon } = categoryOf(item.category);
  const details = [item.username || label, vaults.value.length > 1 ? vaultName(item.vault.id) : ""].filter(Boolean);
  return (
    <a
      href={formatRoute({ view: "items", vault: item.vault.id, item: item.id })}
      tabIndex={tabIndex}
      aria-current={route.value.item === item.id ? "page" : undefined}
    >
      <Icon name={icon} />
      <span class="title">{titleOf(item)}</span>
      <span class="quiet">{details.join(" · ")}</span>
      {item.favorite && (
        <span class="favorite">
          <span class="unseen">Favourite</span>
        </span>
      )}
    </a>
  );
}

function Empty() {
  if (query.value !== "") return <p class="empty">No Item matches “{query.value}”. Values of fields are not searched.</p>;
  if (entries.value.length > 0 && (scope.value !== "all" || vaultFilter.value !== undefined))
    return <p class="empty">No Items here.</p>;
  return (
    <div class="empty">
      <p>{vaults.value.length === 0 ? "You have access to no vault yet." : "There are no Items yet."}</p>
      <NewItemButton label />
    </div>
  );
}
