import type { ButtonHTMLAttributes } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface Props extends Omit<ButtonHTMLAttributes, "icon" | "label"> {
  readonly text?: string | undefined;
  readonly icon?: IconName;
  /** The name for screen readers, where the text is missing or does not name what the button acts on. */
  readonly label?: string | undefined;
}

/** A button, which sends no form unless its type is `submit`. One with an icon alone is plain. */
export const Button = ({ text, icon, label, ...rest }: Props) => (
  <button type="button" class={text === undefined ? "plain" : undefined} aria-label={label} {...rest}>
    {icon && <Icon name={icon} />}
    {text}
  </button>
);
