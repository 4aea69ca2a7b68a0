import { DIALECT_NAMES } from "../../../model/dialect.ts";
import { EVENT_TYPES } from "../../../model/event.ts";
import { FAILURE_KINDS } from "../../../model/failure.ts";
import { FIELD_TYPE_NAMES } from "../../../model/field-types.ts";
import { CATEGORIES } from "../../../model/item.ts";
import { PERMISSIONS } from "../../../model/permission.ts";
import { PURPOSES } from "../../../model/purposes.ts";
import { CHARACTER_SET_NAMES } from "../../../model/recipe.ts";
import type { Schema } from "../types.ts";
import { closed, integer, words } from "./shapes.ts";

/** Ids, times and the words of the API, and the body of an error. */

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const ANY_CASE = UUID.replaceAll("a-f", "a-fA-F");

export const valueSchemas: Readonly<Record<string, Schema>> = {
  Id: {
    type: "string",
    pattern: `^(${UUID}|[a-z2-7]{26})$`,
    description:
      "An id in the form of the token's dialect: a canonical UUID, or the 26 characters of unpadded lower-case base32 of the same " +
      "128 bits (contract 3.2, 3.5).",
    examples: ["3fa85f64-5717-4562-b3fc-2c963f66afa6"],
  },
  Uuid: {
    type: "string",
    format: "uuid",
    pattern: `^${UUID}$`,
    description: "A canonical UUID. Admin routes and the log write it in both dialects (contract 3.6).",
  },
  IdInput: {
    type: "string",
    pattern: `^(${ANY_CASE}|[a-z0-9]{26})$`,
    description:
      "An id in either form; a UUID in any case (contract 3.2). Another text of 26 characters names nothing (contract 3.3).",
  },
  Time: {
    type: "string",
    format: "date-time",
    pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`,
    description: "A time in UTC (RFC 3339, with `Z`).",
    examples: ["2026-11-22T09:30:00.000Z"],
  },
  Category: words("The category of an Item (contract 2.6). Requests may write it in any case (contract 2.9).", CATEGORIES),
  FieldType: words("The type of a field (contract 2.7).", FIELD_TYPE_NAMES),
  Purpose: words(
    "The purpose of a field that has one (contract 2.8).",
    Object.keys(PURPOSES).filter((purpose) => purpose !== ""),
  ),
  CharacterSet: words("A set of characters of generated values (contract 7.3).", CHARACTER_SET_NAMES),
  Permission: words(
    "What a token may do in a vault: `l` lists Items, `r` reads them too, `w` writes, `d` destroys versions and deleted Items (contract 8.4).",
    Object.keys(PERMISSIONS),
  ),
  Dialect: words("The form in which answers to a token write ids and dates (contract 3.5).", DIALECT_NAMES),
  EventType: words("What a write did (contract 15.2). More types may be added.", EVENT_TYPES),
  Error: closed(
    "Every error, an unknown path, a 405 and a 500 included (contract 4.1). The kind is in the header `Item-Vault-Error`.",
    {
      status: integer("The HTTP status.", 400, 599),
      message: { type: "string", description: "What is wrong and where. It contains no value that a user typed (contract 4.4)." },
    },
  ),
  ErrorKind: words("The kind of an error, a closed list (contract 4.2, 4.3). A client decides by it.", FAILURE_KINDS),
};
