import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Item } from "@item-vault/client";
import { call } from "../state/client.ts";
import { isErrorKind, isGone, isUncertain } from "../failures/error-kind.ts";
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
  /** Another client has written the Item: `theirs`. */
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
   * True if a request to create the Item may have taken effect. Until a later request shows the outcome, the vault must not change: in
   * another vault the same id would create a second Item.
   */
  readonly maybeMade: ReadonlySignal<boolean>;
  /** Saves the draft, once at a time. Returns the stored Item, or undefined if it could not be saved; `status` has the reason. */
  readonly save: () => Promise<Item | undefined>;
  /** Returns the change of the last save; undefined if the draft was already stored. */
  readonly change: () => Written | undefined;
  /** Continues with an edit of another state of the Item; `undefined`: with a new Item. */
  readonly rebase: (base: Base | undefined, draft: Draft) => void;
  /** Drops the input. */
  readonly discard: () => void;
}

const PATH = "/v1/vaults/{vault}/items/{item}" as const;

interface State extends Pick<Editor, "draft" | "vault" | "base" | "status"> {
  readonly maybeMade: Signal<boolean>;
  /** The id of a new Item, which the page chooses so that a repeated request cannot make a second Item (contract 10.23). */
  id: string;
  /** The draft at the beginning of the edit. */
  begun: Draft;
  /** The draft that is being saved. The form accepts input during that time. */
  sent: Draft;
  /** The change of the last save; undefined if the draft was already stored. */
  change: Written | undefined;
}

/** Creates an editor. `id` is that of a new Item. */
export function createEditor(start: { vault: string; id: string; draft: Draft; base?: Base }): Editor {
  const state: State = {
    draft: signal(start.draft),
    vault: signal(start.vault),
    base: signal(start.base),
    status: signal<Status>({ state: "editing" }),
    maybeMade: signal(false),
    id: start.id,
    begun: start.draft,
    sent: start.draft,
    change: undefined,
  };
  const { draft, vault, base, status, maybeMade } = state;
  return {
    draft,
    vault,
    base,
    status,
    maybeMade,
    changed: computed(() => !isSame(tidied(state, draft.value), tidied(state, state.begun))),
    save: () => save(state),
    change: () => state.change,
    rebase: (next, typed) => rebase(state, next, typed),
    discard: () => (draft.value = state.begun),
  };
}

/** Returns a draft as it is sent. */
const tidied = ({ base }: State, draft: Draft): Draft => tidy(draft, base.value && draftOf(base.value.item));

async function save(state: State): Promise<Item | undefined> {
  const { base, status } = state;
  if (status.value.state === "saving") return undefined;
  status.value = { state: "saving" };
  state.sent = state.draft.value;
  state.change = undefined;
  try {
    return await (base.value ? patch(state, base.value) : create(state));
  } catch (error) {
    status.value = isGone(error) ? { state: "deleted" } : { state: "failed", error };
    return undefined;
  }
}

function rebase(state: State, next: Base | undefined, typed: Draft): void {
  if (next) state.begun = draftOf(next.item);
  else state.id = crypto.randomUUID();
  state.maybeMade.value = false;
  state.base.value = next;
  state.draft.value = typed;
  state.status.value = { state: "editing" };
}

async function load({ vault }: State, item: string): Promise<Base> {
  const { data, etag = "" } = await call(`GET ${PATH}`, { path: { vault: vault.value, item } });
  return { item: data, etag };
}

async function patch(state: State, { item, etag }: Base): Promise<Item | undefined> {
  const operations = operationsOf(draftOf(item), tidied(state, state.sent));
  if (operations.length === 0) return take(state, { data: item, etag });
  const options = { path: { vault: state.vault.value, item: item.id }, headers: { "If-Match": etag }, body: operations };
  try {
    state.change = await call(`PATCH ${PATH}`, options);
    return take(state, state.change);
  } catch (error) {
    if (!isErrorKind(error, "precondition")) throw error;
    return await compare(state, item, await load(state, item.id));
  }
}

/** The stored Item may equal this draft, because an earlier request took effect although its answer was lost. */
async function compare(state: State, before: Item, theirs: Base): Promise<Item | undefined> {
  const sides = { base: draftOf(before), mine: tidied(state, state.sent), theirs: draftOf(theirs.item) };
  // A File that was added, for example, is no conflict: the form does not write it.
  const isUnchanged = isSame(sides.base, sides.theirs);
  if (!isUnchanged && differences(sides).length > 0) {
    state.status.value = { state: "conflict", theirs };
    return undefined;
  }
  state.base.value = theirs;
  return patch(state, theirs);
}

async function create(state: State): Promise<Item | undefined> {
  const vault = state.vault.value;
  try {
    const body = newItemOf(tidied(state, state.sent), vault);
    return take(state, await call("POST /v1/vaults/{vault}/items", { path: { vault }, headers: { "Item-Id": state.id }, body }));
  } catch (error) {
    state.maybeMade.value ||= isUncertain(error);
    if (!isErrorKind(error, "item_exists")) throw error;
    // Only this page knows the id: an earlier request has created the Item, unless none can have done so.
    if (state.maybeMade.value) {
      const made = await load(state, state.id);
      state.base.value = made;
      return patch(state, made);
    }
    state.id = crypto.randomUUID();
    return create(state);
  }
}

function take(state: State, written: Written): Item {
  const { draft, sent } = state;
  takeWritten(written);
  const typed = draft.value === sent ? draftOf(written.data) : draft.value;
  rebase(state, { item: written.data, etag: written.etag ?? "" }, typed);
  return written.data;
}
