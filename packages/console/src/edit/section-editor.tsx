import { LIMITS } from "@item-vault/model/limits";
import type { Section } from "@item-vault/client";
import type { Draft, DraftField } from "../items/draft.ts";
import { fieldsOf, move, newId, withoutSection } from "./draft.ts";
import { addId, FieldEditor, labelId } from "./field-editor.tsx";
import { focusLater, SignButton, TextInput } from "./inputs.tsx";

/** The fields of the form by section; fields without a section come first. */

interface Props {
  readonly draft: Draft;
  readonly change: (draft: Draft) => void;
  readonly onGenerate: (field: DraftField) => void;
}

export function Sections(props: Props) {
  const { draft, change } = props;
  const add = () => {
    const id = newId();
    change({ ...draft, sections: [...draft.sections, { id, label: "" }] });
    focusLater(`section ${id}`);
  };
  return (
    <>
      <FieldGroup {...props} section="" label="Fields" />
      {draft.sections.map((section, index) => (
        <fieldset key={section.id} class="section" aria-label={section.label || "New section"}>
          <SectionHeader draft={draft} change={change} section={section} index={index} />
          <FieldGroup {...props} section={section.id} label={section.label} />
        </fieldset>
      ))}
      <button type="button" id="add-section" disabled={draft.sections.length >= LIMITS.list} onClick={add}>
        Add section
      </button>
    </>
  );
}

function FieldGroup({ draft, change, onGenerate, section, label }: Props & { readonly section: string; readonly label: string }) {
  const add = () => {
    const id = newId();
    const field: DraftField = { id, section, type: "STRING", purpose: "", label: "", value: "" };
    change({ ...draft, fields: [...draft.fields, field] });
    focusLater(labelId(id));
  };
  return (
    <div class="group">
      {fieldsOf(draft, section).map((field) => (
        <FieldEditor key={field.id} field={field} draft={draft} change={change} onGenerate={onGenerate} />
      ))}
      <button
        type="button"
        id={addId(section)}
        aria-label={section === "" ? "Add field" : `Add field to ${label || "new section"}`}
        disabled={draft.fields.length >= LIMITS.list}
        onClick={add}
      >
        Add field
      </button>
    </div>
  );
}

interface HeaderProps extends Omit<Props, "onGenerate"> {
  readonly section: Section;
  readonly index: number;
}

function SectionHeader({ draft, change, section, index }: HeaderProps) {
  const { sections } = draft;
  const name = section.label || "new section";
  const moveTo = (place: number) => {
    change({ ...draft, sections: move(sections, index, place) });
    focusLater(`section ${section.id}`);
  };
  const remove = () => {
    change(withoutSection(draft, section.id));
    focusLater("add-section");
  };
  return (
    <div class="section-header">
      <TextInput
        label="Section"
        value={section.label}
        limit={LIMITS.string}
        onChange={(label) => change({ ...draft, sections: sections.with(index, { ...section, label }) })}
        input={{ id: `section ${section.id}`, autocomplete: "off" }}
      />
      <SignButton label={`Move section ${name} up`} disabled={index === 0} onClick={() => moveTo(index - 1)}>
        ↑
      </SignButton>
      <SignButton label={`Move section ${name} down`} disabled={index === sections.length - 1} onClick={() => moveTo(index + 1)}>
        ↓
      </SignButton>
      <button type="button" aria-label={`Remove section ${name}`} title="Its fields stay" onClick={remove}>
        Remove
      </button>
    </div>
  );
}
