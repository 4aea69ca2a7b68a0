import { type Category, ItemVaultError, type Section } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { CHARACTER_SET_NAMES, CHARACTER_SETS, type CharacterSet, DEFAULT_RECIPE, RECIPE_LENGTH } from "@item-vault/model/recipe";
import { useSignal, type Signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { explain } from "../failures/explain.ts";
import { CATEGORIES } from "../items/categories.ts";
import type { Draft, DraftField, DraftUrl } from "../items/draft.ts";
import { labelOf } from "../items/field-types.ts";
import { creatableVaults, entries } from "../state/items.ts";
import { compareNames } from "../state/search.ts";
import { sessionState } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Check, Select } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Alert } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { afterRender } from "../ui/page.tsx";
import { SecretText } from "../ui/reveal.tsx";
import { named } from "../ui/texts.ts";
import { fieldsOf, move, newId, withField, withoutSection, generate } from "./draft.ts";
import type { Editor } from "./editor.ts";
import { addId, FieldEditor, labelId, type Change, MoveButtons, SignButton, TextInput } from "./field-editor.tsx";
import { withCategory } from "./new-draft.ts";

type Props = Readonly<{ editor: Editor; onSave: () => void; onCancel: () => void }>;

export function ItemForm({ editor, onSave, onCancel }: Props) {
  const generating = useSignal<DraftField | undefined>(undefined);
  useLayoutEffect(() => document.getElementById("item-title")?.focus(), []);
  const draft = editor.draft.value;
  const change: Change = (next, focused) => {
    editor.draft.value = next;
    if (focused !== undefined) afterRender(() => document.getElementById(focused)?.focus());
  };
  const isNew = editor.base.value === undefined;
  const onUse = (value: string) => {
    change(withField(draft, generating.value!.id, { value }));
    generating.value = undefined;
  };
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
          input={{ required: isNew, id: "item-title" }}
        />
        <Sections draft={draft} change={change} onGenerate={(field) => (generating.value = field)} />
        <UrlEditors draft={draft} change={change} />
        <TagEditor draft={draft} change={change} />
        <Check label="Favorite" checked={draft.favorite} onChange={(favorite) => change({ ...draft, favorite })} />
        <SaveBar editor={editor} onCancel={onCancel} />
      </form>
      {generating.value && (
        <Generator name={labelOf(generating.value)} onClose={() => (generating.value = undefined)} onUse={onUse} />
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

const CATEGORY_OPTIONS = Object.entries(CATEGORIES).map(([name, [label]]) => [name as Category, label] as const);

const Kind = ({ editor: { draft, vault, maybeMade } }: Pick<Props, "editor">) => (
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
        options={creatableVaults().map(({ id, name }) => [id, name])}
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

function SaveBar({ editor, onCancel }: Omit<Props, "onSave">) {
  const status = editor.status.value;
  const saving = status.state === "saving";
  return (
    <footer class="save-bar">
      {status.state === "failed" && <Alert>{explainSave(status.error)}</Alert>}
      <Button text="Cancel" onClick={onCancel} />
      <Button type="submit" text={saving ? "Saving…" : "Save"} class="primary" aria-disabled={saving} />
    </footer>
  );
}

function explainSave(error: unknown): string {
  const ended = error instanceof ItemVaultError && error.status === 401;
  return ended && sessionState.value === "signed-in" ? "You are signed in again. Save now." : explain(error);
}

type PartProps = Readonly<{ draft: Draft; change: Change }>;

type FieldsProps = PartProps & Readonly<{ onGenerate: (field: DraftField) => void }>;

/** The fields by section; fields without a section come first. */
function Sections(props: FieldsProps) {
  const { draft, change } = props;
  const add = () => {
    const id = newId();
    change({ ...draft, sections: [...draft.sections, { id, label: "" }] }, `section ${id}`);
  };
  return (
    <>
      <FieldGroup {...props} section={{ id: "", label: "" }} />
      {draft.sections.map((section, index) => (
        <fieldset key={section.id} class="section" aria-label={section.label || "New section"}>
          <SectionHeader draft={draft} change={change} section={section} index={index} />
          <FieldGroup {...props} section={section} />
        </fieldset>
      ))}
      <Button text="Add section" id="add-section" disabled={draft.sections.length >= LIMITS.list} onClick={add} />
    </>
  );
}

function FieldGroup({ draft, change, onGenerate, section }: FieldsProps & { readonly section: Section }) {
  const add = () => {
    const id = newId();
    const field: DraftField = { id, section: section.id, type: "STRING", purpose: "", label: "", value: "" };
    change({ ...draft, fields: [...draft.fields, field] }, labelId(id));
  };
  return (
    <div class="group">
      {fieldsOf(draft, section.id).map((field) => (
        <FieldEditor key={field.id} field={field} draft={draft} change={change} onGenerate={onGenerate} />
      ))}
      <Button
        text="Add field"
        id={addId(section.id)}
        label={section.id === "" ? "Add field" : `Add field to ${section.label || "new section"}`}
        disabled={draft.fields.length >= LIMITS.list}
        onClick={add}
      />
    </div>
  );
}

function SectionHeader({ draft, change, section, index }: PartProps & { readonly section: Section; readonly index: number }) {
  const { sections } = draft;
  const name = section.label || "new section";
  const onMove = (step: 1 | -1, focused: string) => change({ ...draft, sections: move(sections, index, index + step) }, focused);
  const remove = () => change(withoutSection(draft, section.id), "add-section");
  return (
    <div class="section-header">
      <TextInput
        label="Section"
        value={section.label}
        onChange={(label) => change({ ...draft, sections: sections.with(index, { ...section, label }) })}
        input={{ id: `section ${section.id}` }}
      />
      <MoveButtons id={section.id} name={`section ${name}`} index={index} length={sections.length} onMove={onMove} />
      <Button text="Remove" label={`Remove section ${name}`} title="Its fields stay" onClick={remove} />
    </div>
  );
}

function UrlEditors({ draft, change }: PartProps) {
  const { urls } = draft;
  const set = (index: number, changes: Partial<DraftUrl>) =>
    change({ ...draft, urls: urls.with(index, { ...urls[index]!, ...changes }) });
  const add = () =>
    change({ ...draft, urls: [...urls, { href: "", label: "", primary: urls.length === 0 }] }, `url-${urls.length}`);
  const remove = (index: number) => change({ ...draft, urls: urls.toSpliced(index, 1) }, "add-url");
  return (
    <fieldset class="urls">
      <legend>URLs</legend>
      {urls.map(({ href, label }, index) => (
        // A URL has no id of its own.
        <div key={index} class="line">
          <TextInput
            label={`URL ${index + 1}`}
            value={href}
            onChange={(value) => set(index, { href: value })}
            input={{ id: `url-${index}`, inputMode: "url", placeholder: "https://" }}
          />
          <TextInput label={`Name of URL ${index + 1}`} value={label} onChange={(value) => set(index, { label: value })} />
          <SignButton label={`Remove URL ${index + 1}`} sign="×" onClick={() => remove(index)} />
        </div>
      ))}
      <Button text="Add URL" id="add-url" disabled={urls.length >= LIMITS.list} onClick={add} />
    </fieldset>
  );
}

function TagEditor({ draft, change }: PartProps) {
  const typed = useSignal("");
  const { tags } = draft;
  // Also when the focus leaves the field, so that a tag that was typed is saved.
  const add = () => {
    const added = typed.value.split(",").flatMap((tag) => tag.trim() || []);
    typed.value = "";
    if (added.length > 0) change({ ...draft, tags: [...new Set([...tags, ...added])] });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || typed.value.trim() === "") return;
    event.preventDefault();
    add();
  };
  const remove = (tag: string) => change({ ...draft, tags: tags.filter((each) => each !== tag) }, "add-tag");
  const known = new Set(entries.value.flatMap(({ item }) => item.tags).filter((tag) => !tags.includes(tag)));
  return (
    <fieldset class="tag-editor">
      <legend>Tags</legend>
      {tags.length > 0 && (
        <ul class="tags">
          {tags.map((tag, index) => (
            <li key={index}>
              {tag}
              <SignButton label={`Remove tag ${tag}`} sign="×" onClick={() => remove(tag)} />
            </li>
          ))}
        </ul>
      )}
      <TextInput
        label="Add tag"
        value={typed.value}
        onChange={(value) => (typed.value = value)}
        input={{ id: "add-tag", list: "known-tags", onBlur: add, onKeyDown }}
      />
      <datalist id="known-tags">
        {[...known].toSorted(compareNames).map((tag) => (
          <option key={tag} value={tag}>
            {tag}
          </option>
        ))}
      </datalist>
    </fieldset>
  );
}

type GeneratorProps = Readonly<{ name: string; onUse: (value: string) => void; onClose: () => void }>;

/** Upper bounds of bits of entropy, and how strong a value below them is. */
const STRENGTHS = [
  [50, "Weak"],
  [80, "Fair"],
  [128, "Strong"],
  [Infinity, "Very strong"],
] as const;

const strengthOf = (bits: number): string => `${STRENGTHS.find(([bound]) => bits < bound)![1]} (${Math.floor(bits)} bits)`;

const SETS: Readonly<Record<CharacterSet, string>> = { LETTERS: "Letters", DIGITS: "Digits", SYMBOLS: "Symbols" };

/** The dialog that makes a password in the browser, and shows its strength. */
function Generator({ name, onUse, onClose }: GeneratorProps) {
  const length = useSignal<number>(DEFAULT_RECIPE.length);
  const sets = useSignal<readonly CharacterSet[]>(DEFAULT_RECIPE.characterSets);
  const excluded = useSignal<string>(DEFAULT_RECIPE.excludeCharacters);
  const drawn = useSignal(0);
  const password = useMemo(
    () => generate({ length: length.value, characterSets: sets.value, excludeCharacters: excluded.value }),
    [length.value, sets.value, excluded.value, drawn.value],
  );
  return (
    <Dialog title={`Generate ${named(name)}`} onClose={onClose}>
      <Form
        look="generator"
        action={() => onUse(password!.value)}
        submit="Use password"
        disabled={!password}
        cancel="Regenerate"
        onCancel={() => drawn.value++}
      >
        {/* A screen reader must not say each value aloud while the settings change. */}
        <output class="generated" aria-label="Generated value" aria-live="off">
          {password ? <SecretText value={password.value} /> : "No characters left to choose from."}
        </output>
        <p>
          <output aria-label="Strength">{password ? strengthOf(password.entropy) : ""}</output>
        </p>
        <Length value={length.value} onChange={(next) => (length.value = next)} />
        <CharacterSets sets={sets} />
        <TextInput
          label="Exclude"
          value={excluded.value}
          onChange={(characters) => (excluded.value = characters)}
          input={{ placeholder: "e.g. 0O1lI", spellcheck: false }}
        />
      </Form>
    </Dialog>
  );
}

const CharacterSets = ({ sets }: { readonly sets: Signal<readonly CharacterSet[]> }) => (
  <fieldset class="sets">
    <legend>Characters</legend>
    {CHARACTER_SET_NAMES.map((set) => (
      <Check
        key={set}
        label={[SETS[set], set === "SYMBOLS" && <code>{CHARACTER_SETS[set]}</code>]}
        checked={sets.value.includes(set)}
        onChange={(checked) =>
          (sets.value = CHARACTER_SET_NAMES.filter((each) => (each === set ? checked : sets.value.includes(each))))
        }
      />
    ))}
  </fieldset>
);

/** The length as a slider and as a number. While the number is not valid, the length keeps its last value. */
function Length({ value, onChange }: { readonly value: number; readonly onChange: (length: number) => void }) {
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    if (currentTarget.validity.valid) onChange(currentTarget.valueAsNumber);
  };
  const range = { min: RECIPE_LENGTH.least, max: RECIPE_LENGTH.most, step: 1, value };
  return (
    <div class="line length">
      <label>
        Length
        <input type="range" {...range} onInput={onInput} />
      </label>
      <input type="number" aria-label="Number of characters" required {...range} onInput={onInput} />
    </div>
  );
}
