import type { Client } from "@item-vault/client";
import { isId, onlyOne } from "../api/find.ts";
import { allVaults, namesIn } from "../api/names.ts";
import { type AnyPerson, DOES_NOT_OPEN, opened, scopeOf, scopesOf, type NameOf } from "../api/shapes.ts";
import { adviceForName } from "../frame/advice.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { isTable, type Shown, show, tell } from "../output/format.ts";
import { pairsOf, tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";
import { parsePermission, vaultsOf } from "./issue.ts";
import type { PERSON_DELETE_OPTIONS, PERSON_LIST_OPTIONS, PERSON_WRITE_OPTIONS } from "./table.ts";

/** The people who sign in to the console (contract 25). */

/** `person create`. */
export async function create({ io, args, options, admin: connect }: Call<typeof PERSON_WRITE_OPTIONS>): Promise<void> {
  const grants = (options.vault ?? []).map(parsePermission);
  if (grants.length === 0 && options.admin !== "yes")
    throw new CliError("The person would have no vaults", { exit: "usage", hint: "Name each vault with --vault." });
  const admin = await connect();
  const vaults = await vaultsOf(grants, async () => (await admin.call("GET /v1/admin/vaults")).data);
  const body = { email: args[0]!, vaults, ...adminOf(options.admin) };
  await showPerson(io, options.format, admin, (await admin.call("POST /v1/admin/people", { body })).data);
}

/** `person list`. */
export async function list({ io, options, admin }: Call<typeof PERSON_LIST_OPTIONS>): Promise<void> {
  const connected = await admin();
  const { data: people } = await connected.call("GET /v1/admin/people");
  const nameOf = namesIn(isTable(options.format) ? await allVaults(connected) : []);
  const rows = people.map((person) => [person.id, emailOf(person), scopeOf(person, nameOf), timeOf(person.createdAt)]);
  await show(io, options.format, {
    json: people,
    table: (columns) => tableOf(["ID", "EMAIL", "VAULTS", "ADDED"], rows, columns),
  });
}

const adminOf = (given: "yes" | "no" | undefined) => (given === undefined ? {} : { admin: given === "yes" });

/** `person edit`. The service replaces the vaults, so a call without vaults would remove all of them; with --admin alone they stay. */
export async function edit({ io, args, options, admin: connect }: Call<typeof PERSON_WRITE_OPTIONS>): Promise<void> {
  const grants = (options.vault ?? []).map(parsePermission);
  if (grants.length === 0 && options.admin === undefined)
    throw new CliError("person edit needs --vault, for each vault that the person is to have", {
      exit: "usage",
      hint: "`item-vault person delete` takes all of them away.",
    });
  const admin = await connect();
  const path = { person: await personIdOf(admin, args[0]!) };
  const vaults =
    grants.length === 0
      ? (opened((await admin.call("GET /v1/admin/people/{person}", { path })).data).vaults ?? {})
      : await vaultsOf(grants, async () => (await admin.call("GET /v1/admin/vaults")).data);
  const body = { vaults, ...adminOf(options.admin) };
  await showPerson(io, options.format, admin, (await admin.call("PATCH /v1/admin/people/{person}", { path, body })).data);
}

/** `person delete`. */
export async function remove({ io, args, admin: connect }: Call<typeof PERSON_DELETE_OPTIONS>): Promise<void> {
  const admin = await connect();
  const id = await personIdOf(admin, args[0]!);
  await admin.call("DELETE /v1/admin/people/{person}", { path: { person: id } });
  await tell(io, `Removed the person ${id}`);
}

/** The id of a person by id or email. The service stores the letters A to Z in lower case (contract 25.2). */
async function personIdOf(admin: Client, name: string): Promise<string> {
  if (isId(name)) return name;
  const email = name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const { data: people } = await admin.call("GET /v1/admin/people");
  const hint = adviceForName(
    people.map((person) => opened(person).email),
    email,
    "`item-vault person list` lists them.",
  );
  return onlyOne(
    people.filter((person) => opened(person).email === email),
    "person",
    name,
    { hint },
  ).id;
}

/** Returns the email of a person. A broken person has none (contract 25.1). */
const emailOf = (person: AnyPerson): string => opened(person).email ?? DOES_NOT_OPEN;

const showPerson = async (io: Io, format: string | undefined, admin: Client, person: AnyPerson): Promise<void> =>
  show(io, format, shownPerson(person, namesIn(isTable(format) ? await allVaults(admin) : [])));

const shownPerson = (person: AnyPerson, nameOf: NameOf): Shown => ({
  json: person,
  table: () =>
    pairsOf([
      ["ID", person.id],
      ["Email", emailOf(person)],
      ...scopesOf(person, nameOf).map((scope) => ["Vault", scope] as const),
      ["Administrator", opened(person).admin ? "yes" : ""],
      ["Rule", opened(person).rule ?? ""],
      ["Added", timeOf(person.createdAt)],
      ["Changed", "updatedAt" in person && person.updatedAt ? timeOf(person.updatedAt) : ""],
    ]),
});
