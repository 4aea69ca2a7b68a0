import { type Command, command } from "../frame/command.ts";
import {
  CHILD_CREATE_OPTIONS,
  TOKEN_CREATE_OPTIONS,
  TOKEN_READ_OPTIONS,
  TOKEN_REISSUE_OPTIONS,
  TOKEN_REVOKE_OPTIONS,
} from "./options.ts";

/** Commands of tokens: those of the admin, and those of a token that issues others. */

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
    summary: "revoke a token at once, and those below it (admin)",
    args: "<token>",
    options: TOKEN_REVOKE_OPTIONS,
    examples: ["item-vault token revoke deploy"],
    load: () => import("./manage.ts").then(({ revoke }) => ({ run: revoke })),
  }),
  command({
    name: "token reissue",
    summary: "issue a token with the name, vaults and other attributes of another one (admin)",
    args: "<token>",
    options: TOKEN_REISSUE_OPTIONS,
    examples: ["item-vault token reissue deploy --overlap 1h"],
    load: () => import("./issue.ts").then(({ reissue }) => ({ run: reissue })),
  }),
  command({
    name: "child create",
    summary: "issue a token below your own, which has no more than it and ends with it",
    args: "<name>",
    options: CHILD_CREATE_OPTIONS,
    examples: ["item-vault child create job-4711 --vault Production --expires-in 15m"],
    load: () => import("./issue.ts").then(({ createChild }) => ({ run: createChild })),
  }),
  command({
    name: "child list",
    summary: "list the tokens that your token has issued",
    args: "",
    options: TOKEN_READ_OPTIONS,
    examples: ["item-vault child list"],
    load: () => import("./manage.ts").then(({ listChildren }) => ({ run: listChildren })),
  }),
  command({
    name: "child revoke",
    summary: "revoke a token that yours has issued, by id also a further one below",
    args: "<token>",
    options: TOKEN_REVOKE_OPTIONS,
    examples: ["item-vault child revoke job-4711"],
    load: () => import("./manage.ts").then(({ revokeChild }) => ({ run: revokeChild })),
  }),
] as readonly Command[];
