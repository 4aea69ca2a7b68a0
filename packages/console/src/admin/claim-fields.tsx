import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { NewRule } from "@item-vault/client";
import { afterRender } from "../ui/after-render.ts";
import { InputError } from "../ui/form.tsx";

/** The claims of a rule: those that the preset of its issuer needs, and others that are typed. */

const ADD = ".add";
const NEWEST = ".claim:last-of-type input";

interface Props {
  /** The names of the claims that the rule needs. */
  readonly needed: readonly string[];
  /** A claim was added or removed. */
  readonly onChange: () => void;
}

export function ClaimFields({ needed, onChange }: Props) {
  // The keys of the other claims. A rule without claims is refused.
  const others = useSignal<readonly number[]>(needed.length === 0 ? [0] : []);
  const fields = useRef<HTMLFieldSetElement>(null);
  /** In: which element has the focus after the change. */
  const change = (next: readonly number[], focused: string) => {
    others.value = next;
    onChange();
    afterRender(() => fields.current?.querySelector<HTMLElement>(focused)?.focus());
  };
  const add = () => change([...others.value, Math.max(-1, ...others.value) + 1], NEWEST);
  const remove = (key: number) => {
    const left = others.value.filter((one) => one !== key);
    change(left, ADD);
  };
  return (
    <fieldset ref={fields} class="claims">
      <legend>Claims</legend>
      {needed.map((name) => (
        <label key={name}>
          {name}
          <input type="hidden" name="claim" value={name} />
          <input type="hidden" name="kind" value="text" />
          <input name="value" required autocomplete="off" />
        </label>
      ))}
      {others.value.map((key, index) => (
        <OtherClaim key={key} number={index + 1} onRemove={() => remove(key)} />
      ))}
      <button type="button" class="add" onClick={add}>
        Add claim
      </button>
    </fieldset>
  );
}

function OtherClaim({ number, onRemove }: { readonly number: number; readonly onRemove: () => void }) {
  return (
    <fieldset class="claim" aria-label={`Claim ${number}`}>
      <label>
        Name
        <input name="claim" required autocomplete="off" placeholder="sub" />
      </label>
      <label>
        Type
        <select name="kind">
          <option value="text">Text</option>
          <option value="json">Number, true or false</option>
        </select>
      </label>
      <label>
        Value
        <input name="value" autocomplete="off" />
      </label>
      <button type="button" class="plain" aria-label={`Remove claim ${number}`} onClick={onRemove}>
        ×
      </button>
    </fieldset>
  );
}

/** The claims in the data of a form that has the fields. Errors: an InputError. */
export function parseClaims(data: FormData): NewRule["claims"] {
  const [names, kinds, values] = ["claim", "kind", "value"].map((field) => data.getAll(field).map(String)) as [
    string[],
    string[],
    string[],
  ];
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new InputError(`The claim ${twice} appears twice.`);
  return Object.fromEntries(
    names.map((name, index) => [name, kinds[index] === "json" ? parseJson(name, values[index]!.trim()) : values[index]!]),
  );
}

function parseJson(name: string, text: string): number | boolean {
  if (text === "true" || text === "false") return text === "true";
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InputError(`The value of ${name} must be a whole number, true or false.`);
}
