import type { Dependency } from "@item-vault/client";
import { isEmpty, type Status } from "./facts.ts";

interface Props {
  readonly part: Dependency;
  readonly words: Readonly<Record<Status, string>>;
}

/** The state of a part of the service in a word. A part that works and has nothing yet is not said to work. */
export const State = ({ part, words }: Props) => (
  <span class={isEmpty(part) ? "state" : `state ${part.status.toLowerCase()}`}>
    {isEmpty(part) ? "None yet" : words[part.status]}
  </span>
);
