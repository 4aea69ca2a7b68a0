import { fits, LIMITS } from "@item-vault/model/limits";
import { afterRender } from "../ui/page.tsx";
import { Button } from "../ui/button.tsx";

/** Refuses a text that the service would refuse (contract 12.1). `limit` is in bytes of UTF-8. */
export function checkSize(element: HTMLInputElement | HTMLTextAreaElement, limit: number = LIMITS.string): void {
  element.setCustomValidity(fits(element.value, limit) ? "" : `This text is longer than ${limit / 1024} KiB.`);
}

interface Props {
  readonly label: string;
  readonly value: string;
  readonly limit?: number;
  readonly onChange: (value: string) => void;
  /** Attributes of the input. Preact's own type is a union by `type`, of which no part can be built on its own. */
  readonly input?: object;
}

export const TextInput = ({ label, value, limit, onChange, input = {} }: Props) => (
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

interface ButtonProps {
  readonly label: string;
  readonly sign: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  readonly id?: string;
}

export const SignButton = ({ label, sign, ...rest }: ButtonProps) => (
  <Button text={sign} class="plain" label={label} title={label} {...rest} />
);

interface MoveProps {
  readonly id: string;
  readonly name: string;
  /** The place among the others, and the number of all. */
  readonly index: number;
  readonly length: number;
  readonly onMove: (step: 1 | -1) => void;
}

/** The buttons that move a part of the form. At the end of its way the part has only the other button, which then has the focus. */
export function MoveButtons({ id, name, index, length, onMove }: MoveProps) {
  const last = length - 1;
  const move = (step: 1 | -1, focused: "up" | "down") => {
    onMove(step);
    focusLater(`${focused} ${id}`);
  };
  const [up, down] = [() => move(-1, index === 1 ? "down" : "up"), () => move(1, index === last - 1 ? "up" : "down")];
  return (
    <>
      <SignButton id={`up ${id}`} label={`Move ${name} up`} sign="↑" disabled={index === 0} onClick={up} />
      <SignButton id={`down ${id}`} label={`Move ${name} down`} sign="↓" disabled={index === last} onClick={down} />
    </>
  );
}

/** Moves the focus to an element that is in the page after the change that was just made. */
export const focusLater = (id: string): void => afterRender(() => document.getElementById(id)?.focus());
