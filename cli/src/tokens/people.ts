import type { Client } from "@item-vault/client";
import { request } from "../api/answers.ts";
import { isId, onlyOne } from "../api/find.ts";
import type { Person } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { timeOf } from "../output/time.ts";
import { type Shown, show, tell } from "../output/format.ts";
import { pairsOf, tableOf } from "../output/table.ts";
import { parseGrant, vaultsOf } from "./issue.ts";
import type { PERSON_DELETE_OPTIONS, PERSON_LIST_OPTIONS, PERSON_WRITE_OPTIONS } from "./options.ts";

/** The people who sign in to the console with Cloudflare Access (contract 25). */

const PEOPLE = "/v1/admin/people";

/** `person create`. */
export async function create({ io, args, options, admin: connect }: Call<typeof PERSON_WRITE_OPTIONS>): Promise<void> {
  const grants = (options.vault ?? []).map(parseGrant);
  const admin = await connect();
  const json = { email: args[0]!, vaults: await vaultsOf(admin, grants) };
  await show(io, options.format, shownPerson(await request<Person>(admin, "POST", PEOPLE, { json })));
}

/** `person list`. */
export async function list({ io, options, admin }: Call<typeof PERSON_LIST_OPTIONS>): Promise<void> {
  const people = await request<Person[]>(await admin(), "GET", PEOPLE);
  const rows = people.map((person) => [person.id, emailOf(person), scopeOf(person), timeOf(person.createdAt)]);
  await show(io, options.format, {
    json: people,
    table: (columns) => tableOf(["ID", "EMAIL", "VAULTS", "ADDED"], rows, columns),
  });
}

/** `person edit`. The service replaces the vaults, so a call without any would take all of them away. */
export async function edit({ io, args, options, admin: connect }: Call<typeof PERSON_WRITE_OPTIONS>): Promise<void> {
  const grants = (options.vault ?? []).map(parseGrant);
  if (grants.length === 0)
    throw new CliError("person edit needs --vault, for each vault that the person is to have", {
      exit: "usage",
      hint: "`item-vault person delete` takes all of them away.",
    });
  const admin = await connect();
  const path = `${PEOPLE}/${await personIdOf(admin, args[0]!)}`;
  const json = { vaults: await vaultsOf(admin, grants) };
  await show(io, options.format, shownPerson(await request<Person>(admin, "PATCH", path, { json })));
}

/** `person delete`. */
export async function remove({ io, args, admin: connect }: Call<typeof PERSON_DELETE_OPTIONS>): Promise<void> {
  const admin = await connect();
  const id = await personIdOf(admin, args[0]!);
  await admin.send("DELETE", `${PEOPLE}/${id}`);
  await tell(io, `Removed the person ${id}`);
}

/** The id of a person by id or email. The service stores the letters A to Z in lower case (contract 25.2). */
async function personIdOf(admin: Client, name: string): Promise<string> {
  if (isId(name)) return name;
  const email = name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const people = await request<Person[]>(admin, "GET", PEOPLE);
  const named = people.filter((person) => person.email === email);
  return onlyOne(named, "person", name).id;
}

/** A person whose record does not open has no email (contract 25.1). */
const emailOf = ({ email = "(does not open)" }: Person): string => email;

/** How many vaults, or the only one with its permission. */
function scopeOf({ vaults = {} }: Person): string {
  const entries = Object.entries(vaults);
  return entries.length === 1 ? entries[0]!.join(" ") : String(entries.length);
}

const shownPerson = (person: Person): Shown => ({
  json: person,
  table: () =>
    pairsOf([
      ["ID", person.id],
      ["Email", emailOf(person)],
      ...Object.entries(person.vaults ?? {}).map(([id, permission]) => ["Vault", `${id} ${permission}`] as const),
      ["Added", timeOf(person.createdAt)],
      ["Changed", person.updatedAt ? timeOf(person.updatedAt) : ""],
    ]),
});
