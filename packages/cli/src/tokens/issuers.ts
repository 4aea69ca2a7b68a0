import { readFile } from "node:fs/promises";
import type { Client, NewIssuer } from "@item-vault/client";
import { PRESETS } from "@item-vault/model/workload-presets";
import { isId, onlyOne } from "../api/find.ts";
import { type AnyIssuer, DOES_NOT_OPEN, opened } from "../api/shapes.ts";
import { adviceForName } from "../frame/advice.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { unreadable } from "../frame/paths.ts";
import { type Shown, show, tell } from "../output/format.ts";
import { pairsOf, tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";
import type { ISSUER_CREATE_OPTIONS, ISSUER_DELETE_OPTIONS, ISSUER_READ_OPTIONS } from "./workload-table.ts";

/** The platforms whose tokens the service exchanges. */

/** `issuer create`. */
export async function create({ io, args, options, admin: connect }: Call<typeof ISSUER_CREATE_OPTIONS>): Promise<void> {
  const { preset, once, url: given } = options;
  const issuer = given ?? (preset && PRESETS[preset].url);
  if (issuer === undefined)
    throw new CliError("issuer create needs --url", { exit: "usage", hint: "It is the `iss` of the tokens of the issuer." });
  const body: NewIssuer = {
    name: args[0]!,
    issuer,
    ...(preset && { preset }),
    ...(options.jwks !== undefined && { jwks: await readKeys(options.jwks) }),
    ...(once && { once: once === "yes" }),
  };
  await show(io, options.format, shownIssuer((await (await connect()).call("POST /v1/admin/issuers", { body })).data));
}

/** Throws a CliError without any part of the file, which may be a private key. */
async function readKeys(path: string): Promise<NonNullable<NewIssuer["jwks"]>> {
  const text = await readFile(path, "utf8").catch(unreadable(path));
  try {
    const keys: unknown = JSON.parse(text);
    if (typeof keys === "object" && keys !== null && !Array.isArray(keys)) return keys as NonNullable<NewIssuer["jwks"]>; // the service says what is wrong with it
  } catch {
    throw new CliError(`${path} is not JSON`, { exit: "usage" });
  }
  throw new CliError(`${path} is not a JWK set`, { exit: "usage" });
}

const allIssuers = async (admin: Client): Promise<readonly AnyIssuer[]> => (await admin.call("GET /v1/admin/issuers")).data;

/** `issuer list`. */
export async function list({ io, options, admin }: Call<typeof ISSUER_READ_OPTIONS>): Promise<void> {
  const issuers = await allIssuers(await admin());
  const rows = issuers.map((one) => {
    const { name = DOES_NOT_OPEN, preset = "", issuer = "" } = opened(one);
    return [one.id, name, preset, issuer];
  });
  await show(io, options.format, {
    json: issuers,
    table: (columns) => tableOf(["ID", "NAME", "PRESET", "URL"], rows, columns),
  });
}

/** `issuer get`. */
export async function get({ io, args, options, admin: connect }: Call<typeof ISSUER_READ_OPTIONS>): Promise<void> {
  const admin = await connect();
  const path = { issuer: await issuerIdOf(admin, args[0]!) };
  await show(io, options.format, shownIssuer((await admin.call("GET /v1/admin/issuers/{issuer}", { path })).data));
}

/** `issuer delete`. */
export async function remove({ io, args, admin: connect }: Call<typeof ISSUER_DELETE_OPTIONS>): Promise<void> {
  const admin = await connect();
  const id = await issuerIdOf(admin, args[0]!);
  await admin.call("DELETE /v1/admin/issuers/{issuer}", { path: { issuer: id } });
  await tell(io, `Deleted the issuer ${id}: its rules and their tokens end`);
}

/** The id of an issuer by id or name. */
export async function issuerIdOf(admin: Client, name: string): Promise<string> {
  if (isId(name)) return name;
  const all = await allIssuers(admin);
  const hint = adviceForName(
    all.map((issuer) => opened(issuer).name),
    name,
    "`item-vault issuer list` lists them.",
  );
  return onlyOne(
    all.filter((issuer) => opened(issuer).name === name),
    "issuer",
    name,
    { hint },
  ).id;
}

function shownIssuer(one: AnyIssuer): Shown {
  const { name, issuer, preset, once, jwks } = opened(one);
  return {
    json: one,
    table: () =>
      pairsOf([
        ["ID", one.id],
        ["Name", name ?? DOES_NOT_OPEN],
        ["URL", issuer ?? ""],
        ["Preset", preset ?? ""],
        ["Each token", once === undefined ? "" : once ? "once" : "several times"],
        ["Keys", jwks ? "given" : ""],
        ["Created", timeOf(one.createdAt)],
      ]),
  };
}
