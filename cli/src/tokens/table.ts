import { type Command, command } from "../frame/command.ts";
import { TOKEN_CREATE_OPTIONS, TOKEN_READ_OPTIONS, TOKEN_REISSUE_OPTIONS, TOKEN_REVOKE_OPTIONS } from "./options.ts";

/** Commands of tokens; all of them are the admin's. */

export const TOKEN_COMMANDS: readonly Command[] = [
  command({
    name: "token create",
    summary: "issue a token, which is shown once (admin)",
    args: "<name>",
    options: TOKEN_CREATE_OPTIONS,
    examples: ["item-vault token create deploy --vault Production --vault Staging=rw --expires-in 30d"],
    load: () => import("./issue.ts").then(({ create }) => ({ run: create })),
  }),
  command({
    name: "token list",
    summary: "list the tokens that were not revoked (admin)",
    args: "",
    options: TOKEN_READ_OPTIONS,
    examples: ["item-vault token list"],
    load: () => import("./manage.ts").then(({ list }) => ({ run: list })),
  }),
  command({
    name: "token get",
    summary: "show a token, by id also one that was revoked or has expired (admin)",
    args: "<token>",
    options: TOKEN_READ_OPTIONS,
    examples: ["item-vault token get deploy"],
    load: () => import("./manage.ts").then(({ get }) => ({ run: get })),
  }),
  command({
    name: "token revoke",
    summary: "revoke a token at once (admin)",
    args: "<token>",
    options: TOKEN_REVOKE_OPTIONS,
    examples: ["item-vault token revoke deploy"],
    load: () => import("./manage.ts").then(({ revoke }) => ({ run: revoke })),
  }),
  command({
    name: "token reissue",
    summary: "issue a token with the name, vaults, dialect and lifetime of another one (admin)",
    args: "<token>",
    options: TOKEN_REISSUE_OPTIONS,
    examples: ["item-vault token reissue deploy --overlap 1h"],
    load: () => import("./issue.ts").then(({ reissue }) => ({ run: reissue })),
  }),
] as readonly Command[];
