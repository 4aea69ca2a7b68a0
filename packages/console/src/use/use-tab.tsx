import type { Field, File as StoredFile, Item } from "@item-vault/client";
import { parseId, shortId } from "@item-vault/model/ids";
import { useSignal } from "@preact/signals";
import { CopyButton } from "../items/copy-keys.tsx";
import { labelOf } from "../items/field-types.ts";
import { NO_REFERENCE, referenceTo } from "../references/build.ts";
import { surroundings } from "../references/menu.tsx";
import type { Opened } from "../state/opened.ts";
import { copy } from "../ui/clipboard.ts";
import { Select } from "../ui/controls.tsx";
import { shorten } from "../ui/texts.ts";
import { SNIPPETS, type Target } from "./snippets.ts";

type Part = Field | StoredFile;

const isField = (part: Part): part is Field => "type" in part;
const nameOf = (part: Part): string => (isField(part) ? labelOf(part) : part.name);

/** Lines to copy that use a field or a File of an Item in other programs. */
export function UseTab({ opened: { item } }: { readonly opened: Opened }) {
  const parts: readonly Part[] = [...item.fields.filter(({ value }) => value !== ""), ...item.files];
  const chosen = useSignal<string | undefined>(undefined);
  const password = item.fields.find(({ purpose, value }) => purpose === "PASSWORD" && value !== "");
  const part = parts.find(({ id }) => id === chosen.value) ?? password ?? parts[0];
  if (part === undefined) return <p class="quiet">This item has no field or file to use.</p>;
  const target = targetOf(item, part);
  return (
    <div class="use">
      <Select
        label="Field or file"
        value={part.id}
        options={parts.map((each) => [each.id, shorten(nameOf(each))])}
        onChange={(id) => (chosen.value = id)}
      />
      <p class="quiet">
        These lines name the value and never contain it. Programs need a token: issue one that reads this vault.
      </p>
      {target.reference === undefined && <p class="quiet">{NO_REFERENCE}</p>}
      {SNIPPETS.map(({ name, note, format }) => {
        const text = format(target);
        if (text === undefined) return null;
        return (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <CopyButton name={name} onCopy={() => void copy(name, text, { secret: false })} />
            <code>{text}</code>
            {note !== undefined && <p class="quiet">{note}</p>}
          </section>
        );
      })}
    </div>
  );
}

function targetOf(item: Item, part: Part): Target {
  return {
    host: location.origin,
    vault: shortId(parseId(item.vault.id)!),
    item: shortId(parseId(item.id)!),
    id: part.id,
    kind: !isField(part) ? "file" : part.type === "OTP" ? "otp" : "field",
    title: item.title,
    name: isField(part) ? part.label : part.name,
    purpose: isField(part) ? part.purpose : undefined,
    section: item.sections.find(({ id }) => id === part.section?.id)?.label,
    reference: referenceTo(isField(part) ? { field: part } : { file: part }, item, surroundings()),
  };
}
