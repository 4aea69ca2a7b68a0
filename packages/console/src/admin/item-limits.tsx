import type { NewToken } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { entries, vaultName } from "../state/items.ts";
import type { Entry } from "../state/search.ts";
import { keepFocus } from "../ui/page.tsx";
import { isolate, presentText, titleOf } from "../ui/texts.ts";
import { shortId } from "./filter.ts";
import type { Scope } from "./scope.ts";

/** Items to which a token is limited in their vaults (contract 8.15). They are chosen among those that the session lists. */

const OPTIONS = "limit-items";
/** A browser is slow with a longer list. */
const OFFERED = 1_000;

/** Returns the text of an option, which the field holds once the option is chosen. */
const labelOf = ({ item }: Entry): string =>
  presentText([titleOf(item), vaultName(item.vault.id), shortId(item.id)].map(isolate).join(" · "));

interface Props {
  /** The vaults that are chosen. */
  readonly scope: Scope;
  readonly chosen: readonly Entry[];
  readonly onChange: (chosen: readonly Entry[]) => void;
}

export function ItemLimits({ scope, chosen, onChange }: Props) {
  const possible = entries.value.filter(({ item }) => Object.hasOwn(scope, item.vault.id));
  if (possible.length === 0) return null;
  const left = possible.filter((entry) => !chosen.includes(entry)).slice(0, OFFERED);
  const add = (input: HTMLInputElement): void => {
    const entry = left.find((one) => labelOf(one) === input.value);
    if (!entry) return;
    input.value = "";
    onChange([...chosen, entry]);
  };
  const remove = (entry: Entry): void => {
    onChange(chosen.filter((one) => one !== entry));
    keepFocus();
  };
  return (
    <fieldset class="tag-editor">
      <legend>Only these items</legend>
      {chosen.length > 0 && (
        <ul class="tags">
          {chosen.map((entry) => (
            <li key={entry.key}>
              {titleOf(entry.item)}
              <button type="button" class="plain" aria-label={`Remove ${titleOf(entry.item)}`} onClick={() => remove(entry)}>
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <label>
        Item (leave empty for all items of the vaults)
        <input
          list={OPTIONS}
          autocomplete="off"
          disabled={chosen.length >= LIMITS.tokenItems}
          onInput={(event) => add(event.currentTarget)}
        />
      </label>
      <datalist id={OPTIONS}>
        {left.map((entry) => (
          <option key={entry.key}>{labelOf(entry)}</option>
        ))}
      </datalist>
    </fieldset>
  );
}

/** Returns a scope in which the vaults of chosen Items are limited to these. */
export function limitScope(scope: Scope, chosen: readonly Entry[]): NonNullable<NewToken["vaults"]> {
  const byVault = Map.groupBy(chosen, ({ item }) => item.vault.id);
  return Object.fromEntries(
    Object.entries(scope).map(([vault, permissions]) => {
      const items = byVault.get(vault)?.map(({ item }) => item.id);
      return [vault, items ? { permissions, items } : permissions];
    }),
  );
}
