import { type Command, command, type Options } from "../frame/command.ts";
import { WORKLOAD_OPTIONS } from "../workload/table.ts";

/** Options of `serve`. */

export const SERVE_OPTIONS = {
  listen: { type: "string", value: "ADDRESS:PORT", summary: "where to listen, by default 127.0.0.1:8080" },
  "allow-remote": { type: "boolean", summary: "listen also on an address that other machines reach, unencrypted" },
  vault: {
    type: "string",
    short: "v",
    multiple: true,
    value: "VAULT",
    summary: "hold only this vault, by name or id; may be given several times",
  },
  copy: { type: "string", value: "FILE", summary: "the sealed copy, by default serve.copy in ~/.local/state/item-vault" },
  "key-file": {
    type: "string",
    value: "FILE",
    summary: "the key of the copy, made if missing, by default serve.key beside the config file",
  },
  "client-token-file": {
    type: "string",
    value: "FILE",
    summary: "a secret, made if missing, with which local clients read everything in the copy",
  },
  "max-age": { type: "string", value: "DURATION", summary: "the oldest copy that is served, by default 1h" },
  "max-file-size": { type: "string", value: "KIB", summary: "hold files of at most so many KiB, by default 100" },
  log: { type: "string", value: "FILE", summary: "append a line of JSON for each read that the copy answers" },
  exchange: {
    type: "boolean",
    summary: "get the token by `token exchange`, and renew it; the next options are for this",
  },
  ...WORKLOAD_OPTIONS,
} as const satisfies Options;

/** The command that serves a local copy. */

export const SERVE_COMMANDS = [
  command({
    name: "serve",
    summary: "answer reads on this machine from a sealed copy, also while the service is away",
    args: "",
    options: SERVE_OPTIONS,
    examples: ["item-vault serve", "item-vault serve --vault Production --client-token-file client.token --log reads.ndjson"],
    load: () => import("./serve.ts"),
  }),
] as readonly Command[];
