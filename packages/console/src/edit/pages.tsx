import type { Item } from "@item-vault/client";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ATTRIBUTE_TEXTS, type Part } from "../items/comparison.ts";
import { type Draft, draftOf } from "../items/draft.ts";
import { isConcealed, labelOf } from "../items/field-types.ts";
import type { Route } from "../routes.ts";
import { listedEntries, query } from "../state/chosen-list.ts";
import { itemKey, keyOfItem } from "../state/item-key.ts";
import { pathOf } from "../state/item-writes.ts";
import { creatableVaults, dropItem, may } from "../state/items.ts";
import { open, openItem, type Opened } from "../state/opened.ts";
import { navigate, route } from "../state/route.ts";
import { showWritten } from "../state/toasts.ts";
import { undoChange } from "../state/undo.ts";
import { Button } from "../ui/button.tsx";
import { Pending } from "../ui/failure.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { BackLink, focusOn, Heading } from "../ui/page.tsx";
import { ConcealedValue } from "../ui/reveal.tsx";
import { isolate, titleOf } from "../ui/texts.ts";
import { differences, type Difference, merge, type Side, type Sides } from "./conflict.ts";
import { Editor } from "./editor.ts";
import { ItemForm } from "./form.tsx";
import { templateOf } from "./new-draft.ts";
import { PURPOSES, TYPES } from "./value-inputs.ts";

export function EditPage() {
  const { vault = "", item = "" } = route.value;
  const { value } = open;
  // The form keeps its start when the Item is loaded again or a permission is lost, so that no input is lost.
  const begun = useRef<Opened>(undefined);
  if (value.state === "loaded" && value.key === itemKey(vault, item) && may(vault, "w")) begun.current ??= value.opened;
  if (begun.current) return <Edit vault={vault} opened={begun.current} />;
  if (!may(vault, "w")) return <p class="empty">You don’t have permission to change items in this vault.</p>;
  return <Pending error={value.state === "failed" ? value.error : undefined} retry={() => void openItem(vault, item)} />;
}

function Edit({ vault, opened }: { readonly vault: string; readonly opened: Opened }) {
  const [editor] = useState(() => new Editor({ vault, id: opened.item.id, draft: draftOf(opened.item), base: opened }));
  return <EditorView editor={editor} title={`Edit ${isolate(titleOf(opened.item))}`} />;
}

/** The address of a new Item names the vault in which it begins, and the id that it will have. */
export function NewPage() {
  const { vault = "", item = "" } = route.value;
  const [editor] = useState(() => new Editor({ vault, id: item, draft: templateOf("LOGIN") }));
  const begun = useRef(false);
  begun.current ||= creatableVaults().length > 0;
  if (!begun.current) return <p class="empty">You don’t have permission to create items.</p>;
  return <EditorView editor={editor} title="New item" />;
}

/** The Item itself; the list for a new one. */
const placeOf = (item: Item | undefined): Route => ({ view: "items", ...(item && pathOf(item)) });

/** A form, or its replacement: a conflict, or the Item's deletion by another client. */
function EditorView({ editor, title }: { readonly editor: Editor; readonly title: string }) {
  const status = editor.status.value;
  const base = editor.base.value;
  const shown = useRef(true);
  useLayoutEffect(() => () => void (shown.current = false), []);
  const save = async () => {
    const isNew = editor.base.value === undefined;
    const item = await editor.save();
    // Input during the request is still unsaved.
    if (!item || editor.changed.value) return;
    if (isNew && !listedEntries.value.some(({ key }) => key === keyOfItem(item))) query.value = "";
    showWritten("Saved", item, editor.change && undoChange(editor.change));
    // After a slow request the user may be elsewhere.
    if (shown.current) navigate(placeOf(item), { replace: true });
  };
  const onSave = () => void save();
  const saveAs = (next: Opened | undefined) => (draft: Draft) => {
    editor.rebase(next, draft);
    onSave();
  };
  return (
    <article class="item edit">
      <header>
        <BackLink to={placeOf(base?.item)} text={base ? "Item" : "Items"} />
        <h1>{title}</h1>
      </header>
      {status.state === "conflict" ? (
        <ConflictView
          sides={{ base: draftOf(base!.item), mine: editor.draft.value, theirs: draftOf(status.theirs.item) }}
          onSave={saveAs(status.theirs)}
          onCancel={() => (editor.status.value = { state: "editing" })}
        />
      ) : status.state === "deleted" ? (
        <Deleted editor={editor} onCreate={() => saveAs(undefined)(editor.draft.value)} />
      ) : (
        <ItemForm editor={editor} onSave={onSave} onCancel={() => navigate(placeOf(base?.item))} />
      )}
      <LeaveGuard
        changed={() => editor.changed.value}
        title="Leave without saving?"
        text="Your changes haven’t been saved."
        stay="Keep editing"
        leave="Discard changes"
      />
    </article>
  );
}

/** Somebody has deleted the Item. What was typed can become a new one, because a deleted Item keeps its id. */
function Deleted({ editor, onCreate }: { readonly editor: Editor; readonly onCreate: () => void }) {
  const item = editor.base.value?.item;
  useLayoutEffect(() => {
    if (item) dropItem(item.vault.id, item.id);
  }, []);
  const discard = () => {
    editor.discard();
    navigate({ view: "items" }, { replace: true });
  };
  return (
    <div class="failure" role="alert">
      <p>This item was deleted. Your changes haven’t been saved.</p>
      {item && item.files.length > 0 && <p>The new item will not have its files.</p>}
      <div class="actions">
        <Button text="Create a new item" class="primary" ref={focusOn} onClick={onCreate} />
        <Button text="Discard changes" onClick={discard} />
      </div>
    </div>
  );
}

type Props = Readonly<{ sides: Sides; onSave: (draft: Draft) => void; onCancel: () => void }>;

const SIDES: Readonly<Record<Side, { readonly heading: string; readonly all: string; readonly changed: string }>> = {
  mine: { heading: "Mine", all: "Keep mine", changed: "Changed by you" },
  theirs: { heading: "Theirs", all: "Take theirs", changed: "Changed by them" },
};
const SIDE_NAMES = Object.keys(SIDES) as Side[];

/** Both sides of a conflict, where they differ. The user chooses one for each part; nothing is written before that. */
function ConflictView({ sides, onSave, onCancel }: Props) {
  const rows = differences(sides);
  const choices = useSignal<Readonly<Record<string, Side | undefined>>>(
    Object.fromEntries(rows.map(({ key, changedBy }) => [key, changedBy])),
  );
  return (
    <form
      class="conflict"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(merge(sides, (key) => choices.value[key] ?? "mine"));
      }}
    >
      <Heading level="h2">Someone else changed this item</Heading>
      <p>Someone saved this item while you were editing. Choose which values to keep.</p>
      <div class="actions">
        {SIDE_NAMES.map((side) => (
          <Button
            key={side}
            text={SIDES[side].all}
            onClick={() => (choices.value = Object.fromEntries(rows.map(({ key }) => [key, side])))}
          />
        ))}
      </div>
      {rows.map((row) => (
        <Row
          key={row.key}
          row={row}
          sides={sides}
          choice={choices.value[row.key]}
          choose={(side) => (choices.value = { ...choices.value, [row.key]: side })}
        />
      ))}
      <footer class="save-bar">
        <Button text="Back to the form" onClick={onCancel} />
        <Button type="submit" text="Save" class="primary" />
      </footer>
    </form>
  );
}

type RowProps = Readonly<{ row: Difference; sides: Sides; choice: Side | undefined; choose: (side: Side) => void }>;

function Row({ row: { key, part, changedBy }, sides, choice, choose }: RowProps) {
  const name = nameOf(part, sides);
  return (
    <fieldset class="difference">
      <legend>{name}</legend>
      <p class="quiet">{changedBy === undefined ? "Changed by both" : SIDES[changedBy].changed}</p>
      <div class="sides">
        {SIDE_NAMES.map((side) => (
          <div key={side} class="side">
            <label class="check">
              <input
                type="radio"
                name={key}
                required
                checked={choice === side}
                onChange={() => choose(side)}
                aria-label={`${SIDES[side].heading}: ${name}`}
              />
              {SIDES[side].heading}
            </label>
            <PartOf part={part} sides={sides} side={side} label={`${side} of ${name}`} />
          </div>
        ))}
      </div>
    </fieldset>
  );
}

function nameOf(part: Part, { mine, theirs }: Sides): string {
  if (part.kind !== "field" && part.kind !== "section") return ATTRIBUTE_TEXTS[part.kind].name;
  const isPart = ({ id }: { readonly id: string }) => id === part.id;
  if (part.kind === "field") return labelOf([...mine.fields, ...theirs.fields].find(isPart)!);
  return `Section ${isolate([...mine.sections, ...theirs.sections].find(isPart)?.label || part.id)}`;
}

function PartOf({ part, sides, side, label }: Readonly<{ part: Part; sides: Sides; side: Side; label: string }>) {
  const { [side]: draft, mine, theirs } = sides;
  if (part.kind === "section") {
    const section = draft.sections.find(({ id }) => id === part.id);
    return <p class="value">{section ? section.label || "Untitled" : "Does not exist"}</p>;
  }
  if (part.kind !== "field") return <p class="value">{ATTRIBUTE_TEXTS[part.kind].textOf(draft) || "Empty"}</p>;
  const field = draft.fields.find(({ id }) => id === part.id);
  if (!field) return <p class="quiet">Does not exist</p>;
  const { value } = field;
  return (
    <>
      {value === "" ? (
        <p class="quiet">Empty</p>
      ) : (
        <div class="line">
          {isConcealed(field) ? <ConcealedValue name={label} value={value} /> : <span class="value">{value}</span>}
        </div>
      )}
      {detailsOf(part.id, mine) !== detailsOf(part.id, theirs) && <p class="quiet">{detailsOf(part.id, draft)}</p>}
    </>
  );
}

function detailsOf(id: string, { fields, sections }: Draft): string {
  const field = fields.find((each) => each.id === id);
  if (!field) return "";
  const { label, type, purpose } = field;
  const section = sections.find((each) => each.id === field.section);
  const place = section && `in ${isolate(section.label || "Untitled")}`;
  return [isolate(label), TYPES[type]?.label ?? type, PURPOSES[purpose], place].filter(Boolean).join(" · ");
}
