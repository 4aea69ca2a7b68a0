import type { Schema } from "../types.ts";
import { closed, open, ref } from "./shapes.ts";
import { scope } from "./tokens.ts";

/** People who sign in with Cloudflare Access (contract 25). */

const id = ref("Uuid");
const createdAt = ref("Time");

export const personSchemas: Readonly<Record<string, Schema>> = {
  Person: closed(
    "A person (contract 25.1).",
    {
      id,
      email: { type: "string", description: "With the letters A to Z in lower case." },
      vaults: scope,
      createdAt,
      updatedAt: ref("Time", "When the vaults were changed last; absent before."),
    },
    ["updatedAt"],
  ),
  BrokenPerson: closed("A person whose stored record does not open (contract 25.1).", {
    id: { type: "string", description: "The id, as the row has it." },
    broken: { type: "string", enum: ["integrity", "misconfigured"] },
    createdAt,
  }),
  NewPerson: open(
    "A person to add (contract 25.2).",
    {
      email: {
        type: "string",
        description:
          "The email address that the identity provider confirms: at most 254 characters, one `@`, no white space and no control " +
          "characters. The letters A to Z are compared without regard to case.",
        examples: ["ada@example.com"],
      },
      vaults: { ...scope, description: "The permission in each vault, by the vault's id in either form. Each vault once." },
    },
    ["email", "vaults"],
  ),
  PersonChange: open(
    "A change of a person (contract 25.4).",
    { vaults: { ...scope, description: "The permissions that replace those before." } },
    ["vaults"],
  ),
};
