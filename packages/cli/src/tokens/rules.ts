import type { Client, NewRule } from "@item-vault/client";
import { allIssuers, allVaults, namesIn } from "../api/names.ts";
import { type AnyRule, DOES_NOT_OPEN, opened, scopeOf, scopesOf, type NameOf } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { describeDuration, secondsOf } from "../frame/duration.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { isTable, type Shown, show, tell } from "../output/format.ts";
import { pairsOf, tableOf } from "../output/table.ts";
import { timeOf } from "../output/time.ts";
import { parseScope, vaultsOf } from "./issue.ts";
import { issuerIdOf } from "./issuers.ts";
import type { RULE_OPTIONS, RULE_DELETE_OPTIONS, RULE_READ_OPTIONS } from "./workload-table.ts";

/** The rules for the exchange of workload tokens, and for the sign-in of people. */

/** `rule create`. */
export async function create({ io, options, admin: connect }: Call<typeof RULE_OPTIONS>): Promise<void> {
  if (!options.vault?.length && !options.admin)
    throw new CliError("The rule would give no vaults", { exit: "usage", hint: "Name each vault with --vault." });
  const parsed = parseRule(options);
  const admin = await connect();
  const body = await parsed(admin);
  await showRule(io, options.format, admin, (await admin.call("POST /v1/admin/rules", { body })).data);
}

/** `rule test`. */
export async function test({ io, options, admin: connect }: Call<typeof RULE_OPTIONS>): Promise<void> {
  const parsed = parseRule(options);
  const admin = await connect();
  const body = await parsed(admin);
  const { data: tried } = await admin.call("POST /v1/admin/rules/test", { body });
  const rows = tried.map(({ at, issuer, matches, failed }) => [timeOf(at), issuer, matches ? "yes" : "no", failed.join(" ")]);
  await show(io, options.format, {
    json: tried,
    table: (columns) => tableOf(["TIME", "ISSUER", "MATCHES", "CLAIMS THAT DIFFER"], rows, columns),
  });
}

/**
 * Returns a function that looks up the named objects and returns the body of a request for a rule. Throws a CliError for malformed options.
 */
function parseRule(options: Call<typeof RULE_OPTIONS>["options"]): (admin: Client) => Promise<NewRule> {
  const { issuer, lifetime, dialect } = options;
  const claims = claimsOf(options.claim ?? []);
  const wanted = (options.vault ?? []).map(parseScope);
  const rest = {
    ...(lifetime !== undefined && { lifetime: secondsOf("--lifetime", lifetime) }),
    ...(dialect && { dialect }),
    ...(options["any-repository"] && { anyRepository: true }),
    ...(options["allow-subject"] && { allowSubject: true }),
    ...(options.people && { people: true }),
    ...(options.admin && { admin: true }),
  };
  return async (admin) => ({
    issuer: await issuerIdOf(admin, issuer!),
    claims,
    vaults: await vaultsOf(wanted, async () => (await admin.call("GET /v1/admin/vaults")).data),
    ...rest,
  });
}

/** Throws a CliError, also for a repeated name. */
function claimsOf(texts: readonly string[]): Record<string, NewRule["claims"][string]> {
  const claims = texts.map(parseClaim);
  if (new Set(claims.map(([name]) => name)).size < claims.length)
    throw new CliError("--claim names a claim twice", { exit: "usage" });
  return Object.fromEntries(claims);
}

/** `NAME=TEXT`, or `NAME:=JSON` for a number, `true` or `false`. A name may have colons, as a URL has. */
export function parseClaim(text: string): readonly [name: string, value: NewRule["claims"][string]] {
  const { name, isJson, value = "" } = /^(?<name>[^=]+?)(?<isJson>:)?=(?<value>.*)$/s.exec(text)?.groups ?? {};
  const parsed = isJson === undefined ? value : jsonValueOf(value);
  if (name !== undefined && parsed !== undefined) return [name, parsed];
  throw new CliError("--claim takes NAME=TEXT, or NAME:=JSON for a number, true or false", { exit: "usage" });
}

/** Returns undefined for a text that is neither an integer that JavaScript represents exactly, nor true or false. */
function jsonValueOf(text: string): number | boolean | undefined {
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

/** `rule list`. */
export async function list({ io, options, admin }: Call<typeof RULE_READ_OPTIONS>): Promise<void> {
  const connected = await admin();
  const { data: rules } = await connected.call("GET /v1/admin/rules");
  const nameOf = isTable(options.format) ? await namesForRules(connected) : namesIn();
  const rows = rules.map((rule) => {
    const { name = DOES_NOT_OPEN, issuer = "", claims = {} } = opened(rule);
    return [rule.id, name, nameOf(issuer), scopeOf(rule, nameOf), claimTextsOf(claims).join(" ")];
  });
  await show(io, options.format, {
    json: rules,
    table: (columns) => tableOf(["ID", "NAME", "ISSUER", "VAULTS", "CLAIMS"], rows, columns),
  });
}

const namesForRules = async (admin: Client): Promise<NameOf> => namesIn(await allVaults(admin), await allIssuers(admin));

const showRule = async (io: Io, format: string | undefined, admin: Client, rule: AnyRule): Promise<void> =>
  show(io, format, shownRule(rule, isTable(format) ? await namesForRules(admin) : namesIn()));

/** `rule get`. */
export async function get({ io, args, options, admin }: Call<typeof RULE_READ_OPTIONS>): Promise<void> {
  const connected = await admin();
  const path = { rule: args[0]! };
  await showRule(io, options.format, connected, (await connected.call("GET /v1/admin/rules/{rule}", { path })).data);
}

/** `rule delete`. */
export async function remove({ io, args, admin }: Call<typeof RULE_DELETE_OPTIONS>): Promise<void> {
  await (await admin()).call("DELETE /v1/admin/rules/{rule}", { path: { rule: args[0]! } });
  await tell(io, `Deleted the rule ${args[0]!}: its tokens end`);
}

/** Returns the claims in the form of `--claim`. */
const claimTextsOf = (claims: NewRule["claims"]): string[] =>
  Object.entries(claims).map(([name, value]) => (typeof value === "string" ? `${name}=${value}` : `${name}:=${value}`));

function shownRule(one: AnyRule, nameOf: NameOf): Shown {
  const { name, issuer, claims = {}, lifetime, dialect, anyRepository, allowSubject, people, admin } = opened(one);
  return {
    json: one,
    table: () =>
      pairsOf([
        ["ID", one.id],
        ["Name", name ?? DOES_NOT_OPEN],
        ["Issuer", nameOf(issuer ?? "")],
        ...claimTextsOf(claims).map((text) => ["Claim", text] as const),
        ...scopesOf(one, nameOf).map((scope) => ["Vault", scope] as const),
        ["Lifetime", lifetime === undefined ? "" : describeDuration(lifetime * 1000)],
        ["Dialect", dialect ?? ""],
        ["Permits", [anyRepository && "any repository", allowSubject && "the subject alone"].filter(Boolean).join(", ")],
        ["For", people ? (admin ? "people, as administrators" : "people") : ""],
        ["Created", timeOf(one.createdAt)],
      ]),
  };
}
