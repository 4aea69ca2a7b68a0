import { newPerson, personChange } from "../../bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { closed, MANAGED_BY, managedBy, permissions, ref } from "./shapes.ts";

/** People who sign in (contract 25). */

const id = ref("Uuid");
const createdAt = ref("Time");

export const personSchemas: Readonly<Record<string, Schema>> = {
  Person: closed(
    "A person (contract 25.1).",
    {
      id,
      email: { type: "string", description: "With the letters A to Z in lower case." },
      vaults: permissions,
      admin: { type: "boolean", const: true, description: "Whether the person is an administrator (contract 25.11)." },
      rule: ref("Uuid", "The rule by which the person has signed in; absent for a person who was added (contract 25.13)."),
      managedBy,
      createdAt,
      updatedAt: ref("Time", "When the vaults were changed last; absent before."),
    },
    ["admin", "rule", "managedBy", "updatedAt"],
  ),
  BrokenPerson: closed("A person whose stored record cannot be decrypted (contract 25.1).", {
    id: { type: "string", description: "The id, as the row has it." },
    broken: { type: "string", enum: ["integrity", "misconfigured"] },
    createdAt,
  }),
  NewPerson: body("A person to add (contract 25.2).", newPerson, {
    email: {
      description:
        "The email address that the identity provider confirms: at most 254 characters, one `@`, no white space and no control " +
        "characters. The letters A to Z are compared without regard to case.",
      examples: ["ada@example.com"],
    },
    vaults: "The permission in each vault, by the vault's id in either form. Each vault once.",
    admin: "Whether the person is an administrator; by default no. Only ADMIN_TOKEN makes one (contract 25.11).",
    managedBy: MANAGED_BY,
  }),
  PersonChange: body("A change of a person (contract 25.4).", personChange, {
    vaults: "The permissions that replace those before.",
    admin: "Whether the person is an administrator. Absent: as before. Only ADMIN_TOKEN changes it (contract 25.11).",
  }),
};
