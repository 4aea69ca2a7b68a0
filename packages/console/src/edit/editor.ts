import type { Item } from "@item-vault/client";
import { computed, type Signal, signal } from "@preact/signals";
import { isErrorKind, isGone, isUncertain } from "../failures/explain.ts";
import { type Draft, draftOf, isSame } from "../items/draft.ts";
import { call } from "../state/client.ts";
import { patchItem } from "../state/item-writes.ts";
import { loadItem, type Opened, takeWritten, type Written } from "../state/opened.ts";
import { differences } from "./conflict.ts";
import { tidy } from "./draft.ts";
import { newItemOf, operationsOf } from "./requests.ts";

export type Status =
  | { readonly state: "editing" | "saving" | "deleted" }
  | { readonly state: "failed"; readonly error: unknown }
  /** Another client has written the Item: `theirs`. */
  | { readonly state: "conflict"; readonly theirs: Opened };

/** One form, and how it is saved. Nothing that was typed is lost by a failure. */
export class Editor {
  readonly draft: Signal<Draft>;
  /** The id of the vault. It changes only for a new Item. */
  readonly vault: Signal<string>;
  /** The Item that the draft is an edit of; `undefined` for a new one. */
  readonly base: Signal<Opened | undefined>;
  readonly status = signal<Status>({ state: "editing" });
  /** True if a request to create the Item may have taken effect. In another vault, the same id would then create a second Item. */
  readonly maybeMade = signal(false);
  readonly changed = computed(() => !isSame(this.#tidied(this.draft.value), this.#tidied(this.#begun.value)));
  /** The change of the last save; undefined if the draft was already stored. */
  change: Written | undefined;
  /** The id of a new Item, which the page chooses so that a repeated request cannot make a second Item (contract 10.23). */
  #id: string;
  readonly #begun: Signal<Draft>;
  /** The draft that is being saved. The form accepts input during that time. */
  #sent: Draft;

  constructor({ vault, id, draft, base }: Readonly<{ vault: string; id: string; draft: Draft; base?: Opened }>) {
    this.draft = signal(draft);
    this.vault = signal(vault);
    this.base = signal(base);
    this.#id = id;
    this.#begun = signal(draft);
    this.#sent = draft;
  }

  /** Saves the draft, once at a time. Returns the stored Item, or undefined if it could not be saved; `status` has the reason. */
  async save(): Promise<Item | undefined> {
    if (this.status.value.state === "saving") return undefined;
    this.status.value = { state: "saving" };
    this.#sent = this.draft.value;
    this.change = undefined;
    try {
      return await (this.base.value ? this.#patch(this.base.value) : this.#create());
    } catch (error) {
      this.status.value = isGone(error) ? { state: "deleted" } : { state: "failed", error };
      return undefined;
    }
  }

  /** Continues with an edit of another state of the Item; `undefined`: with a new Item. */
  rebase(base: Opened | undefined, draft: Draft): void {
    if (base) this.#begun.value = draftOf(base.item);
    else this.#id = crypto.randomUUID();
    this.maybeMade.value = false;
    this.base.value = base;
    this.draft.value = draft;
    this.status.value = { state: "editing" };
  }

  discard(): void {
    this.draft.value = this.#begun.value;
  }

  /** Returns a draft as it is sent. */
  #tidied(draft: Draft): Draft {
    return tidy(draft, this.base.value && draftOf(this.base.value.item));
  }

  async #load(id: string): Promise<Opened> {
    const { data: item, etag = "" } = await loadItem(this.vault.value, id);
    return { item, etag };
  }

  async #patch(base: Opened): Promise<Item | undefined> {
    const { item, etag } = base;
    const body = operationsOf(draftOf(item), this.#tidied(this.#sent));
    if (body.length === 0) return this.#take({ data: item, etag });
    try {
      this.change = await patchItem(base, body);
      return this.#take(this.change);
    } catch (error) {
      if (!isErrorKind(error, "precondition")) throw error;
      return await this.#compare(item, await this.#load(item.id));
    }
  }

  /** The stored Item may equal this draft, because an earlier request took effect although its answer was lost. */
  async #compare(before: Item, theirs: Opened): Promise<Item | undefined> {
    const sides = { base: draftOf(before), mine: this.#tidied(this.#sent), theirs: draftOf(theirs.item) };
    // A File that was added, for example, is no conflict: the form does not write it.
    if (!isSame(sides.base, sides.theirs) && differences(sides).length > 0) {
      this.status.value = { state: "conflict", theirs };
      return undefined;
    }
    this.base.value = theirs;
    return this.#patch(theirs);
  }

  async #create(): Promise<Item | undefined> {
    const vault = this.vault.value;
    const body = newItemOf(this.#tidied(this.#sent), vault);
    try {
      return this.#take(await call("POST /v1/vaults/{vault}/items", { path: { vault }, headers: { "Item-Id": this.#id }, body }));
    } catch (error) {
      this.maybeMade.value ||= isUncertain(error);
      if (!isErrorKind(error, "item_exists")) throw error;
      // Only this page knows the id, so an earlier request has created the Item, unless none can have done so.
      if (this.maybeMade.value) return this.#patch((this.base.value = await this.#load(this.#id)));
      this.#id = crypto.randomUUID();
      return this.#create();
    }
  }

  #take(written: Written): Item {
    takeWritten(written);
    const { data: item, etag = "" } = written;
    this.rebase({ item, etag }, this.draft.value === this.#sent ? draftOf(item) : this.draft.value);
    return item;
  }
}
