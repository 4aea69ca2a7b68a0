import { LIMITS } from "../../src/model/limits.ts";
import type { Schema } from "../types.ts";
import { closed, integer, nullable, open, ref, text } from "./shapes.ts";

/** Tokens in answers and requests (contract 8.10, 13.14 to 13.18). */

export const scope: Schema = {
  type: "object",
  description: "The permissions by vault id.",
  additionalProperties: ref("Permission"),
  propertyNames: ref("IdInput"),
  maxProperties: LIMITS.tokenVaults,
};

/** Present for a token of service bindings only. */
const binding: Schema = {
  type: "boolean",
  const: true,
  description: "Whether the token is for service bindings (contract 18.5).",
};
/** Present for a person only (contract 25.8). */
const person: Schema = { type: "boolean", const: true, description: "Whether it is a person, whose email is the name." };
const times: Readonly<Record<string, Schema>> = { createdAt: ref("Time"), expiresAt: ref("Time") };
const token: Readonly<Record<string, Schema>> = {
  id: ref("Id"),
  name: { type: "string" },
  dialect: ref("Dialect"),
  vaults: scope,
  ...times,
};
const endedAt = ref("Time", "When the token was revoked or expired; absent while it is in use.");

export const tokenSchemas: Readonly<Record<string, Schema>> = {
  Token: closed("A token as it was issued (contract 8.10), or a person (contract 25.8).", { ...token, person }, ["person"]),
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
    ["token", "binding"],
  ),
  ListedToken: closed(
    "A token for the admin (contract 13.15, 13.17), or a person (contract 25.8).",
    { ...token, id: ref("Uuid"), binding, person, endedAt },
    ["binding", "person", "endedAt"],
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
  NewToken: open(
    "A token to issue (contract 13.14).",
    {
      name: { ...text("The name.", LIMITS.title), minLength: 1 },
      vaults: { ...scope, description: "The permission in each vault, by the vault's id in either form. Each vault once." },
      dialect: nullable({ ...ref("Dialect") }),
      expiresIn: nullable({
        ...integer("Seconds until the token expires.", 1, LIMITS.tokenLifetime),
        default: LIMITS.tokenLifetimeDefault,
      }),
      binding: nullable({
        type: "boolean",
        default: false,
        description: "Whether the token is for service bindings; then every permission is `r` (contract 18.5).",
      }),
    },
    ["name", "vaults"],
  ),
};
