import type { Presented, Schemas } from "../../api/answer.ts";
import type { Claims } from "../../crypto/token.ts";
import { addedAt } from "../../store/tokens/people.ts";
import type { ListedToken } from "../../store/tokens/tokens.ts";
import { presentTime } from "./time.ts";
import { presentScope } from "./tokens.ts";

const presentAddedAt = (person: ListedToken): string => presentTime(addedAt(person) * 1000);

/** A person for the admin (contract 25.1). */
export function presentPerson(person: Claims): Presented<Schemas.Person> {
  const updatedAt = person.since === undefined ? undefined : presentTime(person.issuedAt * 1000);
  // The scope of a person has no Items (contract 25.2).
  const vaults = presentScope(person, "uuid") as Presented<Schemas.Person>["vaults"];
  return { id: person.id, email: person.name, vaults, admin: person.admin, createdAt: presentAddedAt(person), updatedAt };
}

/** As `presentPerson`, also a person whose row does not open. */
export const presentListedPerson = (person: ListedToken): Presented<Schemas.Person | Schemas.BrokenPerson> =>
  "broken" in person ? { id: person.id, broken: person.broken, createdAt: presentAddedAt(person) } : presentPerson(person);
