import { fits, LIMITS } from "@item-vault/model/limits";
import { useSignal } from "@preact/signals";
import type { RefObject, ComponentProps } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Draft, DraftField, FieldType } from "../items/draft.ts";
import { isGeneratable, labelOf, titleOfField, isConcealed } from "../items/field-types.ts";
import { runOnce, showToast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/controls.tsx";
import { DropHere, FileInput, useDrop } from "../ui/drop.tsx";
import { afterRender } from "../ui/page.tsx";
import { RevealButton, useReveal } from "../ui/reveal.tsx";
import { named } from "../ui/texts.ts";
import { fieldsOf, moveField, withField } from "./draft.ts";
import { inputOf, PURPOSES, refusalOf, TYPES } from "./value-inputs.ts";

type Props = Readonly<{ field: DraftField; draft: Draft; change: Change; onGenerate: (field: DraftField) => void }>;

/** The ids of elements that get the focus. */
export const labelId = (field: string): string => `label ${field}`;
export const addId = (section: string): string => `add ${section}`;

const nameOf = (field: DraftField): string => (field.label === "" ? "new field" : labelOf(field));

/** One field of the form: its value, and below that on demand its name, type, section and place. */
export function FieldEditor({ field, draft, change, onGenerate }: Props) {
  const [open, setOpen] = useState(field.label === "");
  const name = nameOf(field);
  const set = (changes: Partial<DraftField>) => change(withField(draft, field.id, changes));
  const zone = useRef<HTMLDivElement>(null);
  const panel = `settings-${draft.fields.indexOf(field)}`;
  return (
    <div class="field-editor" ref={zone}>
      <div class="name" aria-hidden="true">
        {field.label === "" ? name : titleOfField(field)}
      </div>
      <div class="line">
        <ValueInput field={field} label={name} onChange={(value) => set({ value })} />
        {isGeneratable(field) && (
          <Button text="Generate" label={`Generate ${name}`} aria-haspopup="dialog" onClick={() => onGenerate(field)} />
        )}
        {field.type === "OTP" && <QrPicture name={name} zone={zone} onRead={(value) => set({ value })} />}
        <Button
          icon="more"
          label={`Settings of ${name}`}
          title="Name, type, section, place"
          aria-expanded={open}
          aria-controls={open ? panel : undefined}
          onClick={() => setOpen(!open)}
        />
      </div>
      {open && <Settings id={panel} field={field} draft={draft} change={change} set={set} />}
    </div>
  );
}

type SettingsProps = Omit<Props, "onGenerate"> & Readonly<{ id: string; set: (changes: Partial<DraftField>) => void }>;

function Settings({ id, field, draft, change, set }: SettingsProps) {
  const name = nameOf(field);
  const purpose = field.purpose;
  return (
    <fieldset id={id} class="settings" aria-label={`Settings of ${name}`}>
      <TextInput label="Name" value={field.label} onChange={(label) => set({ label })} input={{ id: labelId(field.id) }} />
      <Select
        label="Type"
        value={field.type}
        disabled={purpose === "PASSWORD"}
        options={typeOptions(field.type)}
        onChange={(type) => set({ type })}
      />
      {draft.sections.length > 0 && (
        <Select
          label="Section"
          value={field.section}
          options={[["", "None"], ...draft.sections.map((section) => [section.id, section.label || "Untitled"] as const)]}
          onChange={(section) => set({ section })}
        />
      )}
      <Select
        label="Purpose"
        value={purpose}
        options={purposeOptions(draft, field)}
        onChange={(next) => set(next === "PASSWORD" ? { purpose: next, type: "CONCEALED" } : { purpose: next })}
      />
      <OrderButtons field={field} draft={draft} change={change} />
    </fieldset>
  );
}

function OrderButtons({ field, draft, change }: Pick<Props, "field" | "draft" | "change">) {
  const group = fieldsOf(draft, field.section);
  const name = nameOf(field);
  const onMove = (step: 1 | -1, focused: string) => change(moveField(draft, field, step), focused);
  const remove = () => change({ ...draft, fields: draft.fields.filter((each) => each !== field) }, addId(field.section));
  return (
    <div class="place">
      <MoveButtons id={field.id} name={name} index={group.indexOf(field)} length={group.length} onMove={onMove} />
      <Button text="Remove" label={`Remove ${name}`} onClick={remove} />
    </div>
  );
}

/** Fields of these types are made by other programs. */
const UNOFFERED: ReadonlySet<FieldType> = new Set(["REFERENCE", "FILE"]);

/** The type that a field has is always there, also one of a newer release. */
const typeOptions = (current: FieldType): [FieldType, string][] => [
  ...(Object.keys(TYPES) as FieldType[])
    .filter((type) => type === current || !UNOFFERED.has(type))
    .map((type): [FieldType, string] => [type, TYPES[type].label]),
  ...(Object.hasOwn(TYPES, current) ? [] : [[current, current] as [FieldType, string]]),
];

/** An Item has one field of each purpose (contract 2.8). */
const purposeOptions = ({ fields }: Draft, field: DraftField) =>
  (Object.entries({ ...PURPOSES, "": "None" }) as [DraftField["purpose"], string][]).filter(
    ([purpose]) => purpose === "" || !fields.some((each) => each !== field && each.purpose === purpose),
  );

type ValueInputProps = Readonly<{ field: DraftField; label: string; onChange: (value: string) => void }>;

/** The browser must not fill in or store the value, as it does even with `off` and `new-password`. A one-time code is not worth storing. */
const CONCEALED: object = { type: "password", autocomplete: "one-time-code" };

/** The types whose values may have several lines, although most have one. */
const LINES: ReadonlySet<string> = new Set(["STRING", "CONCEALED"]);

/** The input for the value of a field. A concealed value shows as dots until it is revealed, and can be typed either way. */
function ValueInput({ field, label, onChange }: ValueInputProps) {
  const concealed = isConcealed(field);
  const { revealed, toggle, extend } = useReveal(field.id);
  const { block = false, input } = inputOf(field);
  const hidden = concealed && !revealed;
  const lines = useRef<HTMLTextAreaElement>(null);
  const line = useRef<HTMLInputElement>(null);
  const refusal = refusalOf(field);
  useLayoutEffect(() => {
    if (refusal !== "") line.current?.setCustomValidity(refusal);
    else if (line.current) checkSize(line.current);
  }, [refusal, field.value, block]);
  const onInput = (event: Event & { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
    checkSize(event.currentTarget);
    if (block && hidden) toggle(); // A text of several lines has no dots while it is typed.
    extend();
    onChange(event.currentTarget.value);
  };
  // An input of one line drops line breaks, which a private key needs. The value becomes a text of several lines instead.
  const onPaste = (event: ClipboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    const text = event.clipboardData?.getData("text/plain").replaceAll("\r\n", "\n") ?? "";
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    if (!LINES.has(field.type) || !text.trim().includes("\n") || selectionStart === null) return;
    event.preventDefault();
    onChange(value.slice(0, selectionStart) + text + value.slice(selectionEnd!));
    afterRender(() => lines.current?.focus());
  };
  return (
    <>
      {block ? (
        // Dots would only be a style: screen readers would get the text, so it is not in the page while it is hidden.
        <textarea
          ref={lines}
          aria-label={label}
          class={concealed ? "secret" : ""}
          rows={Math.min(12, Math.max(3, field.value.split("\n").length))}
          value={hidden ? "" : field.value}
          readOnly={hidden && field.value !== ""}
          placeholder={hidden && field.value !== "" ? "Reveal it to change it" : ""}
          onInput={onInput}
          onKeyDown={extend} // Moving the cursor is a use of the text too.
        />
      ) : (
        <input
          ref={line}
          aria-label={label}
          class={concealed ? "secret" : ""}
          autocomplete="off"
          {...input}
          {...(hidden && CONCEALED)}
          value={field.value}
          onInput={onInput}
          onPaste={onPaste}
        />
      )}
      {concealed && <RevealButton name={label} revealed={revealed} toggle={toggle} />}
    </>
  );
}

type QrProps = Readonly<{ name: string; zone: RefObject<HTMLElement | null>; onRead: (uri: string) => void }>;

/** The button that reads the key of a one-time password from a picture of its QR code, and reading one that is pasted or dropped. */
function QrPicture({ name, zone, onRead }: QrProps) {
  const input = useRef<HTMLInputElement>(null);
  const reading = useSignal(false);
  /** The form accepts input while a picture is read. Undefined after the field was removed. */
  const latest = useRef<QrProps["onRead"]>(undefined);
  useLayoutEffect(() => {
    latest.current = onRead;
    return () => (latest.current = undefined);
  });
  const readFirst = async ([picture]: readonly File[]): Promise<void> => {
    if (!picture) return;
    const { readKeyUri } = await import("../qr-codes/read-image.ts");
    const uri = await readKeyUri(picture);
    if (!latest.current) return;
    latest.current(uri);
    showToast(`QR code read into ${named(name)}`);
  };
  const read = useCallback((pictures: readonly File[]) => void runOnce(reading, () => readFirst(pictures)), [name]);
  const over = useDrop(() => zone.current, read);
  useLayoutEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const pictures = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
      // Office programs put a picture of a text on the clipboard beside it.
      if (pictures.length === 0 || event.clipboardData!.types.includes("text/plain")) return;
      event.preventDefault();
      read(pictures);
    };
    const element = zone.current!;
    element.addEventListener("paste", onPaste);
    return () => element.removeEventListener("paste", onPaste);
  }, [read]);
  return (
    <>
      <Button
        text="Read QR code"
        label={`Read QR code for ${name}`}
        title="From a picture, which can also be pasted or dropped here"
        aria-disabled={reading.value}
        onClick={() => input.current!.click()}
      />
      <FileInput input={input} onFiles={read} accept="image/*" label={`Picture of the QR code for ${name}`} />
      {over && <DropHere text="Drop the picture of a QR code" />}
    </>
  );
}

/** Changes the draft. Afterwards, the element with the id `focused` has the focus. */
export type Change = (draft: Draft, focused?: string) => void;

/** Refuses a text that the service would refuse (contract 12.1). `limit` is in bytes of UTF-8. */
export function checkSize(element: HTMLInputElement | HTMLTextAreaElement, limit: number = LIMITS.string): void {
  element.setCustomValidity(fits(element.value, limit) ? "" : `This text is longer than ${limit / 1024} KiB.`);
}

interface TextInputProps {
  readonly label: string;
  readonly value: string;
  readonly limit?: number;
  readonly onChange: (value: string) => void;
  /** Attributes of the input. Preact's own type is a union by `type`, of which no part can be built on its own. */
  readonly input?: object;
}

export const TextInput = ({ label, value, limit, onChange, input = {} }: TextInputProps) => (
  <label>
    {label}
    <input
      type="text"
      autocomplete="off"
      value={value}
      onInput={(event) => {
        checkSize(event.currentTarget, limit);
        onChange(event.currentTarget.value);
      }}
      {...input}
    />
  </label>
);

export const SignButton = ({ label, sign, ...rest }: ComponentProps<typeof Button> & { readonly sign: string }) => (
  <Button text={sign} class="plain" label={label} title={label} {...rest} />
);

interface MoveProps {
  readonly id: string;
  readonly name: string;
  /** The position among all of them, and their number. */
  readonly index: number;
  readonly length: number;
  readonly onMove: (step: 1 | -1, focused: string) => void;
}

/** The buttons that move a part of the form. At the end of its way the part has only the other button, which then has the focus. */
export function MoveButtons({ id, name, index, length, onMove }: MoveProps) {
  const last = length - 1;
  const up = () => onMove(-1, `${index === 1 ? "down" : "up"} ${id}`);
  const down = () => onMove(1, `${index === last - 1 ? "up" : "down"} ${id}`);
  return (
    <>
      <SignButton id={`up ${id}`} label={`Move ${name} up`} sign="↑" disabled={index === 0} onClick={up} />
      <SignButton id={`down ${id}`} label={`Move ${name} down`} sign="↓" disabled={index === last} onClick={down} />
    </>
  );
}
