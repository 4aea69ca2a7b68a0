import type { Import } from "./create-import.ts";
import { may, vaults } from "../state/items.ts";

/** Which vault gets the Items: one, or one for each vault of the source. */

/** Vaults that the session reads, to find what is there already, and writes. */
const writable = () => vaults.value.filter(({ id }) => may(id, "r") && may(id, "w"));

/** The choice that leaves the Items out. */
const NONE = "none";

/** The choices at first: vaults of the same names, as the command line chooses, and the only vault that there is. */
export function defaultTargets(names: readonly string[]): ReadonlyMap<string, string> {
  const all = writable();
  const only = all.length === 1 ? all[0]!.id : "";
  return new Map(names.map((name) => [name, all.find((vault) => sameName(vault.name, name))?.id ?? only]));
}

const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether each vault of the source has its choice. */
export const isChosen = (names: readonly string[], targets: ReadonlyMap<string, string>): boolean =>
  names.every((name) => (targets.get(name) ?? "") !== "");

export function VaultChoice({ names, shown }: { readonly names: readonly string[]; readonly shown: Import }) {
  const targets = shown.targets.value;
  const all = writable();
  if (all.length === 0)
    return (
      <p class="failure" role="alert">
        You have no vault to which you may write. Ask your administrator for a permission.
      </p>
    );
  return (
    <fieldset class="targets">
      <legend>{names.length > 1 ? "Vaults" : "Vault"}</legend>
      {names.map((name) => (
        <label key={name}>
          {name === "" ? "Import into" : <>Items of “{name}” into</>}
          <select
            required
            value={targets.get(name) ?? ""}
            onChange={(event) => shown.setTargets(new Map([...targets, [name, event.currentTarget.value]]))}
          >
            <option value="">Choose a vault…</option>
            {all.map((vault) => (
              <option key={vault.id} value={vault.id}>
                {vault.name}
              </option>
            ))}
            {names.length > 1 && <option value={NONE}>Leave these Items out</option>}
          </select>
        </label>
      ))}
    </fieldset>
  );
}
