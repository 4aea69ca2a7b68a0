import { signIn } from "../../bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { closed, integer, ref } from "./shapes.ts";

/** Sessions of the console (contract 24). */

const SECRET: Schema = { type: "string", pattern: "^[A-Za-z0-9_-]{43}$" };

export const sessionSchemas: Readonly<Record<string, Schema>> = {
  Session: closed(
    "A session of the console (contract 24.4).",
    {
      expiresAt: ref("Time"),
      admin: { type: "boolean", description: "Whether it opens the routes of the admin." },
      token: ref("Token", "The token that it acts as, or the person; absent without one."),
      person: closed("Who has signed in (contract 25.6, 25.12); absent for a token.", {
        id: ref("Uuid"),
        email: { type: "string" },
      }),
      settings: closed("What the operator has set (contract 24.4).", {
        deletedRetentionDays: {
          type: "number",
          minimum: 0,
          description: "How long a deleted Item can be restored; 0: not at all. It may be a fraction.",
        },
        versionsKept: integer("How many earlier versions an Item keeps.", 0),
        people: { type: "boolean", description: "Whether people sign in: by an identity provider, or with Cloudflare Access." },
      }),
    },
    ["token", "person"],
  ),
  SignIn: body(
    "What signs in: one of code and token; with nothing, Cloudflare Access does (contract 24.3, 25.6, 25.12).",
    signIn,
    {
      code: "A one-time code; with `state` the code of the identity provider.",
      state: "As the identity provider has sent it back with `code`.",
      iss: "The issuer that has answered, if the identity provider names it (RFC 9207).",
      token: "The text of a token, or ADMIN_TOKEN.",
      vaults: "Only alone: the vaults that the admin opens to the token of the session (contract 24.12).",
    },
  ),
  SignInAddress: closed("Where a sign-in begins (contract 25.12).", {
    url: { type: "string", description: "The address at the identity provider to which the browser goes." },
  }),
  SignInCode: closed("A one-time code (contract 24.9).", {
    code: { ...SECRET, description: "The code. Only this answer contains it." },
    expiresAt: ref("Time"),
  }),
};
