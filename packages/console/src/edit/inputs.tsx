import type { ComponentProps } from "preact";
import { fits, LIMITS } from "@item-vault/model/limits";
import type { Draft } from "../items/draft.ts";
import { Button } from "../ui/button.tsx";

/** Changes the draft. Afterwards, the element with the id `focused` has the focus. */
export type Change = (draft: Draft, focused?: string) => void;

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
