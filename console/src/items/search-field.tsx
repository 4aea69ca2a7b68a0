import { useLayoutEffect, useRef } from "preact/hooks";
import { found, listState, query, type Scope, scope, vaultFilter, vaults } from "../state/items.ts";
import { NewItemButton } from "./new-item.tsx";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/plural.ts";

/** The search field, and the choice of what is listed. */

const SCOPE_LABELS: Readonly<Record<Scope, string>> = { all: "All", favorites: "Favourites", archived: "Archived" };

export function SearchField() {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    // Not by the attribute `autofocus`: the browser obeys it once in the life of a page, and logs that it ignores the next one.
    if (document.activeElement === document.body) field.current?.focus();
  }, []);
  return (
    <search class="search">
      <div class="first">
        <label class="field">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            aria-label="Search Items"
            placeholder="Title, tag, user name or URL"
            autocomplete="off"
            spellcheck={false}
            value={query.value}
            onInput={(event) => (query.value = event.currentTarget.value)}
            onKeyDown={leaveField}
          />
        </label>
        <NewItemButton label={false} />
      </div>
      <div class="filters">
        <select
          aria-label="Vault"
          value={vaultFilter.value ?? ""}
          onChange={(event) => (vaultFilter.value = event.currentTarget.value || undefined)}
        >
          <option value="">All vaults</option>
          {vaults.value.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <select aria-label="Show" value={scope.value} onChange={(event) => (scope.value = event.currentTarget.value as Scope)}>
          {Object.entries(SCOPE_LABELS).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
        <output class="quiet count">{listState.value === "loaded" && plural(found.value.length, "Item")}</output>
      </div>
    </search>
  );
}

/** The arrow moves the focus into the list, and Enter opens the first result. */
function leaveField(event: KeyboardEvent): void {
  if (event.key === "Escape") query.value = "";
  if (event.key !== "ArrowDown" && event.key !== "Enter") return;
  const first = document.querySelector<HTMLElement>(".rows a[tabindex='0']");
  event.preventDefault();
  first?.focus();
  if (event.key === "Enter") first?.click();
}
