import type { SharedName } from "@item-vault/transfer/shared-names";
import type { Import } from "./create-import.ts";
import { listError, listState, loadItems, transferTargets } from "../state/items.ts";
import { Failure } from "../ui/failure.tsx";
import { plural } from "../ui/plural.ts";
import { isolate } from "../ui/texts.ts";

/** The vault for the Items: one, or one for each vault of the source. */

/** The choice that leaves the Items out. */
const NONE = "none";

/**
 * Returns the choice for each vault of the source: the user's choices first. By default it is the vault with the same name, as in the command
 * line, or the only vault. A name that several vaults of the source share has none until the user chooses.
 */
export function chooseTargets(
  names: readonly string[],
  shared: readonly SharedName[],
  made: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const all = transferTargets();
  const only = all.length === 1 ? all[0]!.id : "";
  const isShared = (name: string) => shared.some((one) => sameName(one.name, name));
  const found = (name: string) => all.find((vault) => sameName(vault.name, name))?.id ?? only;
  const choose = (name: string) => made.get(name) || (isShared(name) ? "" : found(name));
  return new Map(names.map((name) => [name, choose(name)]));
}

const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Returns true if each vault of the source has its choice. */
export const isChosen = (names: readonly string[], targets: ReadonlyMap<string, string>): boolean =>
  names.every((name) => (targets.get(name) ?? "") !== "");

interface Props {
  readonly names: readonly string[];
  readonly shared: readonly SharedName[];
  readonly shown: Import;
}

export function VaultChoice({ names, shared, shown }: Props) {
  const targets = shown.targets.value;
  const all = transferTargets();
  if (listState.value === "failed") return <Failure error={listError.value} retry={() => void loadItems()} />;
  if (listState.value === "loading") return <p class="quiet">Loading your vaults…</p>;
  return (
    <fieldset class="targets">
      <legend class="unseen">Vaults</legend>
      {shared.map(({ name, count }) => (
        <p key={name}>
          The file has {plural(count, "vault")} named “{isolate(name)}”, in upper or lower case. All their items go into the vault
          that you choose. To keep them apart, rename the vaults before you export them.
        </p>
      ))}
      {names.map((name) => (
        <label key={name}>
          {name === "" ? "Import into" : <>Import “{isolate(name)}” into</>}
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
            {names.length > 1 && <option value={NONE}>Do not import</option>}
          </select>
        </label>
      ))}
    </fieldset>
  );
}
