import { type Client, entriesOf, ItemVaultError, type ListedToken } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { csvText } from "@item-vault/transfer/csv-text";
import { inParallel } from "@item-vault/transfer/pool";
import { PAGE_ENTRIES_MAX } from "../api/lists.ts";
import { allVaults, namesIn } from "../api/names.ts";
import { type AnyPerson, type AnyRule, type AnyToken, DOES_NOT_OPEN, type NameOf, opened } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { tell } from "../output/format.ts";
import type { ACCESS_REPORT_OPTIONS } from "./table.ts";

/** `admin access-report`: the permissions of everybody, as CSV. */

const HEADING = ["kind", "name", "id", "vault", "vault id", "item id", "rights", "since", "last used", "issued by", "ends"];

const REQUESTS_AT_ONCE = 4;

type Rights = Partial<Pick<ListedToken, "name" | "vaults" | "admin" | "backupsOnly" | "adminRead" | "delegate">>;

/** A token, a person or a rule. */
interface Holder {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  /** Undefined if the stored record cannot be decrypted. */
  readonly rights: Rights | undefined;
  readonly since: string;
  readonly used: string;
  /** Who has issued it: an id. */
  readonly issuer: string | undefined;
  readonly ends?: string;
}

type Own = Pick<Holder, "kind" | "name" | "since" | "ends"> & { readonly issuer?: string | undefined };

/** Writes a row for each vault or item that a holder reaches. Fails if a list fails: a report must not omit a grant. */
export async function run({ io, admin: connect }: Call<typeof ACCESS_REPORT_OPTIONS>): Promise<void> {
  const admin = await connect();
  const [vaults, tokens, people, rules, log] = await Promise.all([
    allVaults(admin),
    admin.call("GET /v1/admin/tokens").then(({ data }) => data.filter(({ endedAt }) => endedAt === undefined)),
    admin.call("GET /v1/admin/people").then(({ data }) => data),
    admin.call("GET /v1/admin/rules").then(({ data }) => data),
    readLog(admin).catch(withoutLog),
  ]);
  const uses = new Map(log.uses);
  const loadUse = async (token: AnyToken) => void uses.set(token.id, await lastUseOf(admin, token));
  if (log !== NO_LOG) await inParallel(tokens, loadUse, { most: REQUESTS_AT_ONCE });
  const holderOf = (entry: AnyToken | AnyPerson | AnyRule, { issuer, ...own }: Own): Holder => {
    const { id } = entry;
    return { id, rights: rightsOf(entry), used: uses.get(id) ?? "", issuer: issuer ?? log.makers.get(id), ...own };
  };
  const holders = [
    ...tokens.map((token) => {
      const { name = DOES_NOT_OPEN, parent: issuer, binding, login } = opened(token);
      const kind = login ? "login" : binding ? "service binding" : "token";
      return holderOf(token, { kind, name, since: token.createdAt, issuer, ends: token.expiresAt });
    }),
    ...people.map((person) => {
      const { email: name = DOES_NOT_OPEN, rule: issuer, updatedAt: since = person.createdAt } = opened(person);
      return holderOf(person, { kind: "person", name, since, issuer });
    }),
    ...rules.map((rule) => {
      const { name = DOES_NOT_OPEN, people: isForPeople } = opened(rule);
      return holderOf(rule, { kind: isForPeople ? "rule for people" : "rule for workloads", name, since: rule.createdAt });
    }),
  ];
  const nameOf = namesIn(
    vaults,
    holders.filter(({ rights }) => rights),
  );
  const rows = holders.flatMap((holder) => rowsOf(holder, nameOf)).toSorted(byCells);
  // A terminal obeys a carriage return, and other characters that a name may have.
  await write(io.stdout, csvText([HEADING, ...rows.map((row) => row.map(printable))], "\n"));
  if (log === NO_LOG) await tell(io, "This token reads no log: the last uses and some issuers are missing");
}

const rightsOf = (entry: Rights | { readonly broken: string }): Rights | undefined => ("broken" in entry ? undefined : entry);

/** Sorts in the order of code units, which no locale changes. */
const byCells = (one: readonly string[], other: readonly string[]): number => (one.join("\0") < other.join("\0") ? -1 : 1);

function rowsOf({ kind, id, name, rights, since, used, issuer, ends = "" }: Holder, nameOf: NameOf): string[][] {
  const issuedBy = issuer === undefined ? "an administrator" : nameOf(issuer);
  return grantsOf(rights).map(([vault, item, what]) => {
    const known = nameOf(vault);
    return [kind, name, id, known === vault ? "" : known, vault, item, what, since, used, issuedBy, ends];
  });
}

/** Returns the vault id, the item id and the rights of each grant. */
function grantsOf(rights: Rights | undefined): (readonly [vault: string, item: string, rights: string])[] {
  if (!rights) return [["", "", "unknown: cannot be decrypted"]];
  const { vaults = {}, admin, backupsOnly, adminRead, delegate } = rights;
  const within = (permissions: string) => (delegate ? `${permissions}, issues tokens` : permissions);
  const inVaults = Object.entries(vaults).flatMap(([vault, scope]) =>
    typeof scope === "string"
      ? [[canonical(vault), "", within(scope)] as const]
      : scope.items.map((item) => [canonical(vault), canonical(item), within(scope.permissions)] as const),
  );
  const inService = backupsOnly ? "backups" : adminRead ? "lists of the administrator" : admin && "administration";
  return inService ? [...inVaults, ["", "", inService]] : inVaults;
}

/** The ids in a token's vaults have the form of its dialect. */
const canonical = (id: string): string => parseId(id) ?? id;

interface Log {
  /** The time of the last entry by actor. */
  readonly uses: Map<string, string>;
  /** The actor by what it has made. */
  readonly makers: Map<string, string>;
}

const NO_LOG: Log = { uses: new Map(), makers: new Map() };

/** A token that only reads lists is refused the log (contract 8.20). */
function withoutLog(error: unknown): Log {
  if (error instanceof ItemVaultError && [401, 403].includes(error.status)) return NO_LOG;
  throw error;
}

async function readLog(admin: Client): Promise<Log> {
  const [uses, makers] = [new Map<string, string>(), new Map<string, string>()];
  const query = { limit: PAGE_ENTRIES_MAX, result: "SUCCESS" } as const;
  for await (const entry of entriesOf(admin, "GET /v1/admin/activity", { query })) {
    if ("broken" in entry) continue;
    const { action, actor, timestamp, resource } = entry;
    if (!uses.has(actor.id)) uses.set(actor.id, timestamp);
    const made = resource.token ?? resource.person ?? resource.rule;
    if (action === "CREATE" && made) makers.set(made.id, actor.id);
  }
  return { uses, makers };
}

/** Returns the time of the newest entry of a token, or "" without one. */
async function lastUseOf(admin: Client, token: AnyToken): Promise<string> {
  if ("broken" in token) return "";
  const path = { token: token.id };
  for await (const { timestamp } of entriesOf(admin, "GET /v1/admin/tokens/{token}/activity", { path, query: { limit: 1 } }))
    if (timestamp !== undefined) return timestamp;
  return "";
}
