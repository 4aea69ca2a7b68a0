import type * as z from "zod/mini";
import type { Presented, Schemas } from "../../api/answer.ts";
import { newPerson, personChange } from "../../api/bodies.ts";
import type { Claims } from "../../crypto/token.ts";
import { ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { NEVER_SECONDS } from "../../model/time.ts";
import { requireRoom } from "../../store/health/room.ts";
import { loadOneOfKind } from "../../store/tokens/issuers-and-rules.ts";
import { insertNamed } from "../../store/tokens/named-rows.ts";
import { addedAt, loadPeople, updatePerson } from "../../store/tokens/people.ts";
import { endOne, getOne, isAdministrator, refuseAdministrator, refuseOfAdministrator } from "../administrators.ts";
import { adminEntry } from "../audit.ts";
import { streamList } from "../json-list.ts";
import { newId } from "../new-id.ts";
import { presentTime } from "../present/time.ts";
import { presentRow, presentScope } from "../present/tokens.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/people (contract 25): adds, lists, changes and removes people. */

type NewPerson = z.output<typeof newPerson>;
type PersonChange = z.output<typeof personChange>;

const PERSON = { resource: "PERSON" } as const;

export async function listPeople({ c, store }: Call): ReplyTo<"listPeople"> {
  const people = await loadPeople(store, (person) => [JSON.stringify(presentRow(presentPerson)(person))]);
  return people.ok ? ok({ response: streamList(c, people.value) }) : people;
}

export const getPerson = getOne("person", presentPerson);

export const addPerson = serveBy({
  parse: ({ body }: ParseCall): Result<NewPerson> => parseValue(newPerson, body!.json, "the person"),
  async handle(call: Call, { email, vaults, admin, managedBy }: NewPerson): ReplyTo<"addPerson"> {
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
      managedBy,
    } as const;
    const added = await insertNamed(store, claims, adminEntry(PERSON, c, "CREATE", id));
    return added.ok ? ok({ json: presentPerson(added.value), made: id }) : added;
  },
});

export const changePerson = serveBy({
  parse: ({ body }: ParseCall): Result<PersonChange> => parseValue(personChange, body!.json, "the person"),
  async handle({ c, store, person: id }: Call, { vaults, admin }: PersonChange): ReplyTo<"changePerson"> {
    const refused =
      admin && isAdministrator(c)
        ? refuseOfAdministrator()
        : await refuseAdministrator(c, store, () => loadOneOfKind(store, "person", id));
    if (refused) return refused;
    const changed = await updatePerson(store, id, { vaults, admin }, adminEntry(PERSON, c, "UPDATE", id));
    return changed.ok ? ok({ json: presentPerson(changed.value) }) : changed;
  },
});

export const removePerson = endOne("person");

/** Presents a person to the admin (contract 25.1). */
function presentPerson(person: Claims): Presented<Schemas.Person> {
  const createdAt = presentTime(addedAt(person) * 1000);
  const updatedAt = person.since === undefined ? undefined : presentTime(person.issuedAt * 1000);
  // The scope of a person has no Items (contract 25.2).
  const vaults = presentScope(person, "uuid") as Presented<Schemas.Person>["vaults"];
  const rule = person.descent?.ancestors.at(-1);
  const { admin, managedBy } = person;
  return { id: person.id, email: person.name, vaults, admin, rule, managedBy, createdAt, updatedAt };
}
