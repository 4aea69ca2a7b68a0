import { LIMITS } from "../../../model/limits.ts";
import { byNarrowAdmin, NARROW_ADMIN, NARROW_ADMIN_NAMES } from "../../../model/token-kind.ts";
import { newChildToken, newToken } from "../../bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { closed, integer, MANAGED_BY, managedBy, ref, tokenPermissions } from "./shapes.ts";

/** Tokens in answers and requests (contract 8.10, 13.14 to 13.18). */

/** Present for a token of service bindings only. */
const binding: Schema = {
  type: "boolean",
  const: true,
  description: "Whether the token is for service bindings (contract 18.5).",
};
/** Present for a person only (contract 25.8). */
const person: Schema = { type: "boolean", const: true, description: "Whether it is a person, whose email is the name." };
const stale = integer("Seconds by which its reads may be old (contract 8.12); absent: they read the primary.", 1, LIMITS.stale);
const times: Readonly<Record<string, Schema>> = { createdAt: ref("Time"), expiresAt: ref("Time") };
const delegate: Schema = { type: "boolean", const: true, description: "Whether the token may issue others (contract 8.16)." };
const token: Readonly<Record<string, Schema>> = {
  id: ref("Id"),
  name: { type: "string" },
  dialect: ref("Dialect"),
  vaults: tokenPermissions,
  stale,
  delegate,
  admin: {
    type: "boolean",
    const: true,
    description: "Whether it is for the admin routes, and opens no vaults (contract 8.18).",
  },
  ...byNarrowAdmin((name): Schema => ({ type: "boolean", const: true, description: `Whether it ${NARROW_ADMIN[name]}.` })),
  parent: ref("Id", "The token that has issued it (contract 8.16); absent: the admin has."),
  ...times,
};
/** The attributes of every token that may be absent. */
const optional = ["stale", "delegate", "admin", ...NARROW_ADMIN_NAMES, "parent"];
/** Present for the token of a login only (contract 28.2). */
const login: Schema = closed("The terminal that has got the token by a login (contract 28.2).", {
  address: { type: "string", description: "Its address; empty where the platform gives none." },
  program: { type: "string", description: "What the program says of itself: its `User-Agent`." },
});
const endedAt = ref("Time", "When the token was revoked or expired; absent while it is in use.");

export const tokenSchemas: Readonly<Record<string, Schema>> = {
  ItemScope: closed("A permission that holds for some Items of the vault only (contract 8.15).", {
    permissions: ref("Permission"),
    items: {
      type: "array",
      items: ref("IdInput"),
      minItems: 1,
      description: `The ids of the Items, at most ${LIMITS.tokenItems}. For the token no other one exists.`,
    },
  }),
  Token: closed("A token as it was issued (contract 8.10), or a person (contract 25.8).", { ...token, person }, [
    ...optional,
    "person",
  ]),
  IssuedToken: closed(
    "A new token (contract 8.16, 13.14). Ids of vaults have the form of its dialect.",
    {
      ...token,
      binding,
      managedBy,
      token: {
        type: "string",
        description:
          "What a client sends as `Authorization: Bearer …`. No other answer contains it, except one to a repeated request. " +
          "Absent for a token of service bindings, which no request can carry (contract 18.5).",
      },
    },
    [...optional, "token", "binding", "managedBy"],
  ),
  ListedToken: closed(
    "A token in a list, or one for the admin (contract 8.16, 13.15, 13.17), or a person (contract 25.8).",
    { ...token, binding, person, login, managedBy, endedAt },
    [...optional, "binding", "person", "login", "managedBy", "endedAt"],
  ),
  BrokenToken: closed(
    "A token whose stored record cannot be decrypted (contract 13.18).",
    {
      id: { type: "string", description: "The id, as the row has it." },
      broken: { type: "string", enum: ["integrity", "misconfigured"] },
      ...times,
      endedAt,
    },
    ["endedAt"],
  ),
  NewToken: body("A token to issue (contract 13.14).", newToken, {
    name: "The name.",
    vaults: "The permission in each vault, by the vault's id in either form. Each vault once.",
    dialect: "`uuid` by default.",
    expiresIn: `Seconds until the token expires; by default ${LIMITS.tokenLifetimeDefault}.`,
    binding: "Whether the token is for service bindings, by default no; then every permission is `r` (contract 18.5).",
    stale: "Seconds by which the reads of the token may be old, and so its revocation (contract 8.12). Not with `binding`.",
    managedBy: MANAGED_BY,
    ...byNarrowAdmin(
      (one) =>
        `Whether the token ${NARROW_ADMIN[one]}; by default no. Then it has none of the others but \`name\`, \`expiresIn\` and \`managedBy\`.`,
    ),
    delegate: "Whether the token may issue others (contract 8.16); by default no. Not with `binding`.",
  }),
  NewChildToken: body("A token that a token issues (contract 8.16).", newChildToken, {
    name: "The name.",
    vaults: "The permission in each vault, by the vault's id in either form. The token of the request has it too.",
    dialect: "By default that of the token of the request.",
    expiresIn: "Seconds until the token expires. By default 90 days, and at most what the token of the request has left.",
    stale: "Seconds by which the reads of the token may be old (contract 8.12): at most those of the token of the request.",
    delegate: "Whether the token may issue others; by default no.",
    binding: "Only the admin issues tokens of service bindings.",
  }),
};
