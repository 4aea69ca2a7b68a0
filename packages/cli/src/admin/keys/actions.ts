import type { KeysCall } from "./options.ts";

/** The actions of `admin keys`, its first argument. */

export interface KeysAction {
  readonly name: string;
  /** What follows the name, as the help shows it: `<id>`, `[id]`, or nothing. */
  readonly args: string;
  readonly summary: string;
  load(): Promise<{ readonly run: (call: KeysCall, ids: readonly string[]) => Promise<number | void> }>;
}

/** The actions, in the order of a rotation. Without one, the command lists the keys. */
export const KEYS_ACTIONS: readonly KeysAction[] = [
  {
    name: "list",
    args: "",
    summary: "the keys, their states, and what each of them still holds",
    load: () => import("./list.ts"),
  },
  {
    name: "stage",
    args: "[id]",
    summary: "add a new random key to the file; the service then knows it and does not use it",
    load: () => import("./stage.ts"),
  },
  {
    name: "activate",
    args: "<id>",
    summary: "make a key that the service knows the one that wraps, seals and signs",
    load: () => import("./activate.ts"),
  },
  {
    name: "rewrap",
    args: "",
    summary: "wrap the keys of all vaults, and seal all tokens, under the active key",
    load: () => import("./rewrap.ts"),
  },
  {
    name: "remove",
    args: "<id>",
    summary: "take a key that holds nothing out of the file; its public key stays, for the tokens that it signed",
    load: () => import("./remove.ts"),
  },
  {
    name: "reseal",
    args: "[vault]…",
    summary: "give vaults new keys, and seal all of their records again",
    load: () => import("./reseal.ts"),
  },
];
