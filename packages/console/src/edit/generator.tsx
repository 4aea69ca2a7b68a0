import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { CHARACTER_SET_NAMES, CHARACTER_SETS, type CharacterSet, DEFAULT_RECIPE, RECIPE_LENGTH } from "@item-vault/model/recipe";
import { Check } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { SecretText } from "../ui/reveal.tsx";
import { named } from "../ui/texts.ts";
import { generate } from "./draft.ts";
import { TextInput } from "./inputs.tsx";

type Props = Readonly<{ name: string; onUse: (value: string) => void; onClose: () => void }>;

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
export function Generator({ name, onUse, onClose }: Props) {
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
