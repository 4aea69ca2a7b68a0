import { json, listOfEither, required } from "../content.ts";
import { newPerson, person } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** People who sign in (contract 25). */

const either = {
  "application/json": {
    schema: { oneOf: [{ $ref: "#/components/schemas/Person" }, { $ref: "#/components/schemas/BrokenPerson" }] },
    example: person,
  },
};

export const peopleDescriptions = {
  listPeople: {
    tag: "Admin: people",
    summary: "List the people",
    description: "Who signs in, the oldest first, also those whose record cannot be decrypted (contract 25.1).",
    answers: { 200: { description: "The people.", content: listOfEither(["Person", "BrokenPerson"]) } },
  },
  addPerson: {
    tag: "Admin: people",
    summary: "Add a person",
    description:
      "From now on the person signs in to the console, by the identity provider or Cloudflare Access (contract 25.2, 25.3).",
    body: required(json("NewPerson", newPerson)),
    answers: { 200: { description: "The person.", content: json("Person", person) } },
    errors: ["out_of_scope", "person_exists", "database_full", "quota", "uncertain"],
  },
  getPerson: {
    tag: "Admin: people",
    summary: "Read a person",
    description: "One of the list (contract 25.1).",
    answers: { 200: { description: "The person.", content: either } },
  },
  changePerson: {
    tag: "Admin: people",
    summary: "Change the vaults of a person",
    description: "Replaces the permissions and ends the person's sessions (contract 25.4).",
    body: required(json("PersonChange", { vaults: newPerson.vaults })),
    answers: { 200: { description: "The person.", content: json("Person", person) } },
    errors: ["out_of_scope", "busy", "database_full", "uncertain"],
  },
  removePerson: {
    tag: "Admin: people",
    summary: "Remove a person",
    description: "Ends the person's sessions (contract 25.5).",
    answers: { 204: { description: "The person is removed." } },
    errors: ["out_of_scope", "uncertain"],
  },
} satisfies Partial<Descriptions>;
