import type * as z from "zod/mini";
import { newPerson, personChange } from "../../api/bodies.ts";
import { ok, type Result } from "../../model/result.ts";
import { NEVER_SECONDS } from "../../model/time.ts";
import { parseValue } from "../../model/text.ts";
import { endOfKind } from "../../store/tokens/issuers-and-rules.ts";
import { insertNamed } from "../../store/tokens/named-rows.ts";
import { loadPeople, loadPerson, updatePerson, addedAt } from "../../store/tokens/people.ts";
import { requireRoom } from "../../store/health/room.ts";
import { isAdministrator, refuseAdministrator, refuseOfAdministrator } from "../administrators.ts";
import { adminEntry } from "../audit.ts";
import { streamList } from "../json-list.ts";
import { newId } from "../new-id.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import type { Presented, Schemas } from "../../api/answer.ts";
import type { Claims } from "../../crypto/token.ts";
import type { ListedToken } from "../../store/tokens/tokens.ts";
import { presentTime } from "../present/time.ts";
import { presentScope } from "../present/tokens.ts";

/** /v1/admin/people (contract 25): adds, lists, changes and removes people. */

type NewPerson = z.output<typeof newPerson>;
type PersonChange = z.output<typeof personChange>;

const PERSON = { resource: "PERSON" } as const;

export async function listPeople({ c, store }: Call): ReplyTo<"listPeople"> {
  const people = await loadPeople(store, (person) => JSON.stringify(presentListedPerson(person)));
  return people.ok ? ok({ response: streamList(c, groupsOf(people.value)) }) : people;
}

/** The number of people in a piece of the answer. */
const PIECE_PEOPLE = 10;

function* groupsOf(texts: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < texts.length; from += PIECE_PEOPLE) yield texts.slice(from, from + PIECE_PEOPLE);
}

export async function getPerson({ store, person: id }: Call): ReplyTo<"getPerson"> {
  const person = await loadPerson(store, id);
  return person.ok ? ok({ json: presentListedPerson(person.value) }) : person;
}

export const addPerson = serveBy({
  parse: ({ body }: ParseCall): Result<NewPerson> => parseValue(newPerson, body!.json, "the person"),
  async handle(call: Call, { email, vaults, admin }: NewPerson): ReplyTo<"addPerson"> {
    const { c, store } = call;
    if (admin && isAdministrator(c)) return refuseOfAdministrator();
    const room = await requireRoom(store);
    if (!room.ok) return room;
    const id = await newId(call, "new person");
    const issuedAt = Math.floor(store.now / 1000);
    const claims = {
      id,
      name: email,
      dialect: "uuid",
      vaults,
      issuedAt,
      expiresAt: NEVER_SECONDS,
      kind: "person",
      admin: admin || undefined,
    } as const;
    const added = await insertNamed(store, claims, adminEntry(PERSON, c, "CREATE", id));
    return added.ok ? ok({ json: presentPerson(added.value), made: id }) : added;
  },
});

export const changePerson = serveBy({
  parse: ({ body }: ParseCall): Result<PersonChange> => parseValue(personChange, body!.json, "the person"),
  async handle({ c, store, person: id }: Call, { vaults, admin }: PersonChange): ReplyTo<"changePerson"> {
    const refused =
      admin && isAdministrator(c) ? refuseOfAdministrator() : await refuseAdministrator(c, store, () => loadPerson(store, id));
    if (refused) return refused;
    const changed = await updatePerson(store, id, { vaults, admin }, adminEntry(PERSON, c, "UPDATE", id));
    return changed.ok ? ok({ json: presentPerson(changed.value) }) : changed;
  },
});

export async function removePerson({ c, store, person: id }: Call): ReplyTo<"removePerson"> {
  const refused = await refuseAdministrator(c, store, () => loadPerson(store, id));
  if (refused) return refused;
  const removed = await endOfKind(store, "person", id, adminEntry(PERSON, c, "DELETE", id));
  return removed.ok ? ok({ response: c.body(null, 204) }) : removed;
}

const presentAddedAt = (person: ListedToken): string => presentTime(addedAt(person) * 1000);

/** Presents a person to the admin (contract 25.1). */
function presentPerson(person: Claims): Presented<Schemas.Person> {
  const updatedAt = person.since === undefined ? undefined : presentTime(person.issuedAt * 1000);
  // The scope of a person has no Items (contract 25.2).
  const vaults = presentScope(person, "uuid") as Presented<Schemas.Person>["vaults"];
  const rule = person.descent?.ancestors.at(-1);
  return { id: person.id, email: person.name, vaults, admin: person.admin, rule, createdAt: presentAddedAt(person), updatedAt };
}

/** Presents a person, including a person whose row cannot be decrypted. */
const presentListedPerson = (person: ListedToken): Presented<Schemas.Person | Schemas.BrokenPerson> =>
  "broken" in person ? { id: person.id, broken: person.broken, createdAt: presentAddedAt(person) } : presentPerson(person);
