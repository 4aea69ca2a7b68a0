import { LIMITS } from "../../src/model/limits.ts";
import { newToken } from "../../contract/bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { closed, integer, ref, tokenPermissions } from "./shapes.ts";

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
const token: Readonly<Record<string, Schema>> = {
  id: ref("Id"),
  name: { type: "string" },
  dialect: ref("Dialect"),
  vaults: tokenPermissions,
  stale,
  ...times,
};
const endedAt = ref("Time", "When the token was revoked or expired; absent while it is in use.");

export const tokenSchemas: Readonly<Record<string, Schema>> = {
  ItemScope: closed("A permission that holds for some Items of the vault only (contract 8.15).", {
    permissions: ref("Permission"),
    items: {
      type: "array",
      items: ref("IdInput"),
      minItems: 1,
      maxItems: LIMITS.tokenItems,
      description: "The ids of the Items. For the token no other one exists.",
    },
  }),
  Token: closed("A token as it was issued (contract 8.10), or a person (contract 25.8).", { ...token, person }, [
    "stale",
    "person",
  ]),
  IssuedToken: closed(
    "A new token (contract 13.14). Ids of vaults have the form of its dialect.",
    {
      ...token,
      id: ref("Uuid"),
      binding,
      token: {
        type: "string",
        description:
          "What a client sends as `Authorization: Bearer …`. No other answer contains it, except one to a repeated request. " +
          "Absent for a token of service bindings, which no request can carry (contract 18.5).",
      },
    },
    ["stale", "token", "binding"],
  ),
  ListedToken: closed(
    "A token for the admin (contract 13.15, 13.17), or a person (contract 25.8).",
    { ...token, id: ref("Uuid"), binding, person, endedAt },
    ["stale", "binding", "person", "endedAt"],
  ),
  BrokenToken: closed(
    "A token whose stored record does not open (contract 13.18).",
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
    expiresIn: { description: "Seconds until the token expires.", default: LIMITS.tokenLifetimeDefault },
    binding: {
      description: "Whether the token is for service bindings; then every permission is `r` (contract 18.5).",
      default: false,
    },
    stale: "Seconds by which the reads of the token may be old, and so its revocation (contract 8.12). Not with `binding`.",
  }),
};
