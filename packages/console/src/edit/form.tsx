import { type Category, ItemVaultError } from "@item-vault/client";
import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { LIMITS } from "@item-vault/model/limits";
import { CATEGORIES } from "../items/categories.ts";
import { labelOf } from "../items/field-types.ts";
import { creatableVaults } from "../state/items.ts";
import type { DraftField } from "../items/draft.ts";
import { withField } from "./draft.ts";
import type { Editor } from "./editor.ts";
import { Generator } from "./generator.tsx";
import { Select, TextInput } from "./inputs.tsx";
import { TagEditor, UrlEditors } from "./lists.tsx";
import { Sections } from "./section-editor.tsx";
import { withCategory } from "./new-draft.ts";
import { explain } from "../failures/explain.ts";
import { sessionState } from "../state/session.ts";

/** The form of an Item, new or stored. */

interface Props {
  readonly editor: Editor;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

const CATEGORY_OPTIONS = Object.entries(CATEGORIES).map(([name, label]) => [name as Category, label] as const);

export function ItemForm({ editor, onSave, onCancel }: Props) {
  const generating = useSignal<DraftField | undefined>(undefined);
  useLayoutEffect(() => document.getElementById("item-title")?.focus(), []);
  const draft = editor.draft.value;
  const change = (next: typeof draft) => (editor.draft.value = next);
  const isNew = editor.base.value === undefined;
  return (
    <>
      {/* The form handles a key that bubbles from its inputs. Spelling services of browsers would get the values. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <form
        class="item-form"
        spellcheck={false}
        autocomplete="off"
        onKeyDown={saveByKey}
        onSubmit={(event) => {
          event.preventDefault();
          onSave();
        }}
      >
        {isNew && <Kind editor={editor} />}
        <TextInput
          label="Title"
          value={draft.title}
          limit={LIMITS.title}
          onChange={(title) => change({ ...draft, title })}
          input={{ required: isNew, id: "item-title", autocomplete: "off" }}
        />
        <Sections draft={draft} change={change} onGenerate={(field) => (generating.value = field)} />
        <UrlEditors draft={draft} change={change} />
        <TagEditor draft={draft} change={change} />
        <label class="check">
          <input
            type="checkbox"
            checked={draft.favorite}
            onChange={(event) => change({ ...draft, favorite: event.currentTarget.checked })}
          />
          Favorite
        </label>
        <SaveBar editor={editor} onCancel={onCancel} />
      </form>
      {generating.value && (
        <Generator
          name={labelOf(generating.value)}
          onClose={() => (generating.value = undefined)}
          onUse={(value) => {
            const { id } = generating.value!;
            change(withField(draft, id, { value }));
            generating.value = undefined;
          }}
        />
      )}
    </>
  );
}

/** The vault of a new Item, and its first fields. */
function Kind({ editor: { draft, vault, maybeMade } }: { readonly editor: Editor }) {
  return (
    <>
      <div class="line">
        <Select
          label="Category"
          value={draft.value.category}
          options={CATEGORY_OPTIONS}
          onChange={(category) => (draft.value = withCategory(draft.value, category))}
        />
        <Select
          label="Vault"
          value={vault.value}
          disabled={maybeMade.value}
          options={creatableVaults().map(({ id, name }) => [id, name] as const)}
          onChange={(id) => (vault.value = id)}
        />
      </div>
      {maybeMade.value && (
        <p class="quiet">
          The item may already be in this vault: the answer of the service was lost. Save again to find out; until then the vault
          can’t be changed.
        </p>
      )}
    </>
  );
}

function saveByKey(event: KeyboardEvent & { readonly currentTarget: HTMLFormElement }): void {
  if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  // An input that takes its text when the focus leaves it has to take it now.
  const focused = document.activeElement as HTMLElement;
  focused.blur();
  focused.focus();
  event.currentTarget.requestSubmit();
}

/** The buttons below a form, and beside them why it could not be saved. */

interface SaveBarProps {
  readonly editor: Editor;
  readonly onCancel: () => void;
  readonly label?: string;
}

const SIGNED_IN_AGAIN = "You are signed in again. Save now.";

function SaveBar({ editor, onCancel, label = "Save" }: SaveBarProps) {
  const status = editor.status.value;
  return (
    <footer class="save-bar">
      {status.state === "failed" && (
        <p class="failure" role="alert">
          {messageOf(status.error)}
        </p>
      )}
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
      <button class="primary" aria-disabled={status.state === "saving"}>
        {status.state === "saving" ? "Saving…" : label}
      </button>
    </footer>
  );
}

function messageOf(error: unknown): string {
  const ended = error instanceof ItemVaultError && error.status === 401;
  return ended && sessionState.value === "signed-in" ? SIGNED_IN_AGAIN : explain(error);
}
