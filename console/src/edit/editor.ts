import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { ItemVaultError, type Item } from "@item-vault/client";
import { call } from "../api/client.ts";
import { takeWritten, type Written } from "../state/written.ts";
import { differences } from "./conflict.ts";
import { type Draft, draftOf, isSame } from "../items/draft.ts";
import { tidy } from "./draft.ts";
import { newItemOf, operationsOf } from "./requests.ts";

/** The state of one form, and how it is saved. Nothing that was typed is lost by a failure. */

/** An Item as it is stored, with its entity tag. */
export interface Base {
  readonly item: Item;
  readonly etag: string;
}

export type Status =
  | { readonly state: "editing" | "saving" | "deleted" }
  | { readonly state: "failed"; readonly error: unknown }
  /** Somebody else has written the Item in the meantime: `theirs`. */
  | { readonly state: "conflict"; readonly theirs: Base };

export interface Editor {
  readonly draft: Signal<Draft>;
  /** The id of the vault. It changes only for a new Item. */
  readonly vault: Signal<string>;
  /** The Item that the draft is an edit of; `undefined` for a new one. */
  readonly base: Signal<Base | undefined>;
  readonly status: Signal<Status>;
  readonly changed: ReadonlySignal<boolean>;
  /**
   * A request to make the Item may have taken effect. Until a later one tells, the vault must stay: in another one the same id would be
   * that of a second Item.
   */
  readonly maybeMade: ReadonlySignal<boolean>;
  /** Saves the draft, once at a time. Out: the Item as it is stored; `undefined` when it could not be saved, which `status` tells. */
  readonly save: () => Promise<Item | undefined>;
  /** Continues with an edit of another state of the Item; `undefined`: with a new Item. */
  readonly rebase: (base: Base | undefined, draft: Draft) => void;
  /** Drops what was typed. */
  readonly discard: () => void;
}

const PATH = "/v1/vaults/{vault}/items/{item}" as const;

const isKind = (error: unknown, kind: string): boolean => error instanceof ItemVaultError && error.kind === kind;

/**
 * Whether a request may have taken effect although it failed (contract 10.15). Of a 507 nothing has happened. Other failures of 5xx that
 * say the same may be the answer to a repetition, after an earlier attempt without an answer.
 */
const isUncertain = (error: unknown): boolean =>
  error instanceof ItemVaultError && (error.status === 0 || error.status >= 500) && error.status !== 507;

/** In: `id`, that of a new Item, which the page chooses so that a repeated request cannot make a second Item (contract 10.23). */
export function createEditor(start: { vault: string; id: string; draft: Draft; base?: Base }): Editor {
  const [draft, vault] = [signal(start.draft), signal(start.vault)];
  const base = signal(start.base);
  const status = signal<Status>({ state: "editing" });
  let [id, begun] = [start.id, start.draft];
  const maybeMade = signal(false);
  /** The draft that is being saved: the form can be typed into in the meantime. */
  let sent = start.draft;
  const changed = computed(() => !isSame(tidy(draft.value, begun), tidy(begun, begun)));

  const rebase: Editor["rebase"] = (next, typed) => {
    begun = next ? draftOf(next.item) : begun;
    if (next === undefined) id = crypto.randomUUID();
    maybeMade.value = false;
    base.value = next;
    draft.value = typed;
    status.value = { state: "editing" };
  };

  async function load(item: string): Promise<Base> {
    const { data, etag = "" } = await call(`GET ${PATH}`, { path: { vault: vault.value, item } });
    return { item: data, etag };
  }

  async function patch({ item, etag }: Base): Promise<Item | undefined> {
    const operations = operationsOf(draftOf(item), tidy(sent, begun));
    if (operations.length === 0) return take({ data: item, etag });
    const options = { path: { vault: vault.value, item: item.id }, headers: { "If-Match": etag }, body: operations };
    try {
      return take(await call(`PATCH ${PATH}`, options));
    } catch (error) {
      if (!isKind(error, "precondition")) throw error;
      return await compare(item, await load(item.id));
    }
  }

  /** What is stored may be this draft, because an earlier request has taken effect although its answer was lost. */
  async function compare(before: Item, theirs: Base): Promise<Item | undefined> {
    const sides = { base: draftOf(before), mine: tidy(sent, begun), theirs: draftOf(theirs.item) };
    // A File that was added, for example, is no conflict: the form does not write it.
    const isUnchanged = isSame(sides.base, sides.theirs);
    if (!isUnchanged && differences(sides).length > 0) {
      status.value = { state: "conflict", theirs };
      return undefined;
    }
    base.value = theirs;
    return patch(theirs);
  }

  async function create(): Promise<Item | undefined> {
    try {
      const body = newItemOf(tidy(sent, begun), vault.value);
      return take(
        await call("POST /v1/vaults/{vault}/items", { path: { vault: vault.value }, headers: { "Item-Id": id }, body }),
      );
    } catch (error) {
      maybeMade.value ||= isUncertain(error);
      if (!isKind(error, "item_exists")) throw error;
      // Only this page knows the id: the Item is what an earlier request has made, unless none can have made it.
      if (maybeMade.value) {
        base.value = await load(id);
        return patch(base.value);
      }
      id = crypto.randomUUID();
      return create();
    }
  }

  function take(written: Written): Item {
    takeWritten(written);
    rebase({ item: written.data, etag: written.etag ?? "" }, draft.value === sent ? draftOf(written.data) : draft.value);
    return written.data;
  }

  async function save(): Promise<Item | undefined> {
    if (status.value.state === "saving") return undefined;
    status.value = { state: "saving" };
    sent = draft.value;
    try {
      return await (base.value ? patch(base.value) : create());
    } catch (error) {
      status.value = isKind(error, "item_not_found") ? { state: "deleted" } : { state: "failed", error };
      return undefined;
    }
  }

  return { draft, vault, base, status, changed, maybeMade, save, rebase, discard: () => (draft.value = begun) };
}
