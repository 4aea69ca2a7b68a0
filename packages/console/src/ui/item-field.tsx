import { fold } from "@item-vault/model/fold";
import { isId, parseId } from "@item-vault/model/ids";
import type { ComponentChildren } from "preact";
import { entries, vaultName, vaults } from "../state/items.ts";
import { search } from "../state/search.ts";
import { presentText, titleOf } from "./texts.ts";

/** The choice of an Item by its title. An Item that the session does not list is chosen by its id, a reference or its address. */

type NamedVault = Readonly<{ id: string; name: string }>;

interface Props {
  readonly id: string;
  readonly label: ComponentChildren;
  /** The vaults whose Items are offered. Absent: all. */
  readonly among?: readonly NamedVault[];
  readonly value: string;
  readonly type?: "search";
  readonly name?: string;
  readonly placeholder?: string;
  readonly disabled?: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  /** `whole`: the text was chosen or pasted, and is not being typed. */
  readonly onInput: (text: string, whole: boolean) => void;
}

/** Returns true for a chosen option, which Safari reports no further, and for a pasted text. */
const isWhole = (event: Event): boolean => !(event instanceof InputEvent) || /^$|Replacement|Paste|Drop/.test(event.inputType);

export const ItemField = ({ label, among, onInput, ...input }: Props) => (
  <>
    <label>
      {label}
      <input
        {...input}
        list={`${input.id}-options`}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value, isWhole(event))}
      />
    </label>
    {/* Beside the label, whose text it would be a part of. */}
    <datalist id={`${input.id}-options`}>
      {[...optionsOf(input.value, among).keys()].map((text) => (
        <option key={text}>{text}</option>
      ))}
    </datalist>
  </>
);

export interface NamedItem {
  readonly id: string;
  /** The id of its vault; undefined if several are possible. */
  readonly vault: string | undefined;
  /** Undefined if the session does not list the Item. */
  readonly title?: string;
}

/** A reference such as `op://vault/item/field`, or the address of an Item in the console. */
const PLACE = /(?:^\s*op:\/\/|#\/items\/)([^/]+)\/([^/?]+)/i;

export function itemNamed(text: string, among: readonly NamedVault[] = vaults.value): NamedItem | undefined {
  const [, vault, name = text] = PLACE.exec(text) ?? [];
  const possible =
    vault === undefined ? among : among.filter((one) => one.id === parseId(vault) || fold(one.name) === fold(vault));
  const id = parseId(name.trim());
  const item =
    optionsOf(name, possible).get(name) ??
    entries.value.find((one) => one.item.id === id && possible.some((within) => within.id === one.item.vault.id))?.item;
  if (item) return { id: item.id, vault: item.vault.id, title: titleOf(item) };
  return id !== undefined && isId(id) ? { id, vault: possible.length === 1 ? possible[0]!.id : undefined } : undefined;
}

/** Of thousands, only matching Items are offered. */
const OFFERED = 50;
const SEPARATOR = " · ";

/** Returns the Items that are offered for a text, by their labels: a title that several have is followed by vault and id. */
function optionsOf(text: string, among?: readonly NamedVault[]) {
  const ids = among && new Set(among.map(({ id }) => id));
  const [title] = text.split(SEPARATOR);
  const offered = search(ids ? entries.value.filter(({ item }) => ids.has(item.vault.id)) : entries.value, title!).slice(
    0,
    OFFERED,
  );
  const counts = Map.groupBy(offered, ({ item }) => titleOf(item));
  return new Map(
    offered.map(({ item }) => {
      const name = titleOf(item);
      const label = counts.get(name)!.length === 1 ? [name] : [name, vaultName(item.vault.id), item.id.slice(0, 8)];
      // As the option shows it, and the field then has it.
      return [presentText(label.join(SEPARATOR)), item];
    }),
  );
}
