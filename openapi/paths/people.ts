import { json, listOfEither, required } from "../content.ts";
import { newPerson, person } from "../examples.ts";
import { ADMIN, type Row } from "../operation.ts";

/** People who sign in with Cloudflare Access (contract 25). */

const PEOPLE = "/v1/admin/people";
const PERSON = `${PEOPLE}/{person}`;

const either = {
  "application/json": {
    schema: { oneOf: [{ $ref: "#/components/schemas/Person" }, { $ref: "#/components/schemas/BrokenPerson" }] },
    example: person,
  },
};

export const peopleRows: readonly Row[] = [
  {
    method: "get",
    path: PEOPLE,
    operationId: "listPeople",
    tag: "Admin: people",
    summary: "List the people",
    description: "Who signs in with Cloudflare Access, the oldest first, also those whose record does not open (contract 25.1).",
    access: ADMIN,
    answers: { 200: { description: "The people.", content: listOfEither(["Person", "BrokenPerson"]) } },
  },
  {
    method: "post",
    path: PEOPLE,
    operationId: "addPerson",
    tag: "Admin: people",
    summary: "Add a person",
    description: "From now on the person signs in to the console with Cloudflare Access (contract 25.2, 25.3).",
    access: ADMIN,
    json: required(json("NewPerson", newPerson)),
    idempotent: true,
    answers: { 200: { description: "The person.", content: json("Person", person) } },
    errors: ["person_exists", "database_full", "quota", "uncertain"],
  },
  {
    method: "get",
    path: PERSON,
    operationId: "getPerson",
    tag: "Admin: people",
    summary: "Read a person",
    description: "One of the list (contract 25.1).",
    access: ADMIN,
    answers: { 200: { description: "The person.", content: either } },
  },
  {
    method: "patch",
    path: PERSON,
    operationId: "changePerson",
    tag: "Admin: people",
    summary: "Change the vaults of a person",
    description: "Replaces the permissions and ends the person's sessions (contract 25.4).",
    access: ADMIN,
    json: required(json("PersonChange", { vaults: newPerson.vaults })),
    answers: { 200: { description: "The person.", content: json("Person", person) } },
    errors: ["busy", "database_full", "uncertain"],
  },
  {
    method: "delete",
    path: PERSON,
    operationId: "removePerson",
    tag: "Admin: people",
    summary: "Remove a person",
    description: "Ends the person's sessions (contract 25.5).",
    access: ADMIN,
    answers: { 204: { description: "The person is removed." } },
    errors: ["uncertain"],
  },
];
