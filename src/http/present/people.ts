import { addedAt } from "../../store/tokens/people.ts";
import type { ListedToken } from "../../store/tokens/tokens.ts";
import { presentTime } from "./time.ts";
import { presentScope } from "./tokens.ts";

/** A person for the admin (contract 25.1), also one whose row does not open. */
export function presentPerson(person: ListedToken): object {
  const { id } = person;
  const createdAt = presentTime(addedAt(person) * 1000);
  if ("broken" in person) return { id, broken: person.broken, createdAt };
  const updatedAt = person.since === undefined ? undefined : presentTime(person.issuedAt * 1000);
  return { id, email: person.name, vaults: presentScope(person, "uuid"), createdAt, updatedAt };
}
