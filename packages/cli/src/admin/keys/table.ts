import { type Command, command, type Call, type Options } from "../../frame/command.ts";
import { FORMAT_OPTION } from "../../output/format.ts";

/** The actions of `admin keys`, its first argument. */

interface KeysAction {
  readonly name: string;
  /** The arguments, as the help shows them: `<id>`, `[id]`, or nothing. */
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
    name: "renew",
    args: "<vault>…",
    summary: "give vaults a new data key, under which all further writes are",
    load: async () => ({ run: (await import("./vault-keys.ts")).renew }),
  },
  {
    name: "rewrite",
    args: "<vault>…",
    summary: "after a renew: write all of the vaults again, and destroy earlier versions and deleted items",
    load: async () => ({ run: (await import("./vault-keys.ts")).rewrite }),
  },
];

/** Example values of the arguments of an action. */
const EXAMPLES: Readonly<Record<string, string>> = { "<id>": "k2", "[id]": "k2", "<vault>…": "Production" };

/** Options of `admin keys`. */

const KEYS_OPTIONS = {
  file: { type: "string", value: "FILE", summary: "the file with ROOT_KEYS, by default production.vars" },
  upload: { type: "boolean", summary: "then run wrangler, which gives the service the new ROOT_KEYS" },
  leaked: { type: "boolean", summary: "remove: do not keep the public key, so that the tokens that the key signed end" },
  "keep-versions": { type: "boolean", summary: "rewrite: destroy nothing; earlier versions keep their key" },
  "dry-run": { type: "boolean", summary: "show what would be done; change nothing" },
  ...FORMAT_OPTION,
} as const satisfies Options;

export type KeysCall = Call<typeof KEYS_OPTIONS>;

/** `admin keys`: one command, whose first argument is an action. The name of a command has at most two words. */

export const KEYS_COMMANDS: readonly Command[] = [
  command({
    name: "admin keys",
    summary: `show and rotate the root keys: ${KEYS_ACTIONS.map(({ name }) => name).join(", ")} (admin)`,
    args: "[action] [name]…",
    options: KEYS_OPTIONS,
    examples: [
      "item-vault admin keys",
      "item-vault admin keys stage --file .dev.vars",
      ...KEYS_ACTIONS.filter(({ name }) => name !== "list").map(({ name, args }) =>
        `item-vault admin keys ${name} ${EXAMPLES[args] ?? ""}`.trim(),
      ),
    ],
    load: () => import("./keys.ts"),
  }),
] as readonly Command[];
