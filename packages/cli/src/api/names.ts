import { type Client, entriesOf } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { allOf, quotedInFilter } from "./lists.ts";
import { type AnyIssuer, type AnyRule, type AnyToken, type AnyVault, type NameOf, opened } from "./shapes.ts";

/** Names in place of ids in tables. An id without a name is shown as it is, and a failed look-up ends no command. */

interface Named {
  readonly id: string;
  readonly name?: string | undefined;
}

const canonical = (id: string): string => parseId(id) ?? id;

export function namesIn(...lists: readonly (readonly Named[])[]): NameOf {
  const names = new Map(lists.flat().flatMap(({ id, name }) => (name ? [[canonical(id), name] as const] : [])));
  return (id) => names.get(canonical(id)) ?? id;
}

const orNone = <T>(answer: Promise<{ readonly data: readonly T[] }>): Promise<readonly T[]> =>
  answer.then(
    ({ data }) => data,
    () => [],
  );

const named = (entry: AnyVault | AnyToken | AnyIssuer | AnyRule): Named => ({ id: entry.id, name: opened(entry).name });

/** The vaults that the token reads. */
export const vaultsOfToken = (client: Client): Promise<readonly Named[]> => orNone(client.call("GET /v1/vaults"));

const vaultsOfService = (admin: Client): Promise<readonly AnyVault[]> => orNone(admin.call("GET /v1/admin/vaults"));

/** All vaults. */
export const allVaults = async (admin: Client): Promise<readonly Named[]> => (await vaultsOfService(admin)).map(named);

export const allIssuers = async (admin: Client): Promise<readonly Named[]> =>
  (await orNone(admin.call("GET /v1/admin/issuers"))).map(named);

/** Returns the token of the client, and the tokens that it has issued. */
export async function actorsOfToken(client: Client): Promise<readonly Named[]> {
  const own = client.call("GET /v1/token").then(({ data }) => ({ data: [data] }));
  return [...(await orNone(own)), ...(await orNone(client.call("GET /v1/tokens"))).map(named)];
}

/** Returns all tokens that have not ended, all rules and people, and the ended tokens with one of the ids. */
export async function allActors(admin: Client, ids: readonly string[]): Promise<readonly Named[]> {
  const [tokens, rules, people] = await Promise.all([
    orNone(admin.call("GET /v1/admin/tokens")),
    orNone(admin.call("GET /v1/admin/rules")),
    orNone(admin.call("GET /v1/admin/people")),
  ]);
  const actors = [
    ...[...tokens, ...rules].map(named),
    ...people.map((person) => ({ id: person.id, name: opened(person).email })),
  ];
  const known = new Set(actors.map(({ id }) => id));
  const ended = [...new Set(ids)].filter((id) => parseId(id) !== undefined && !known.has(id));
  for (const token of ended) {
    const path = { token };
    const found = await orNone(admin.call("GET /v1/admin/tokens/{token}", { path }).then(({ data }) => ({ data: [data] })));
    actors.push(...found.map(named));
  }
  return actors;
}

/**
 * Returns the things that the log of the admin names besides actors. A job is named by its kind, and a webhook by its host: its path may
 * hold a secret.
 */
export async function allSubjects(admin: Client, withWebhooks: boolean): Promise<readonly Named[]> {
  const jobsList = allOf(entriesOf(admin, "GET /v1/admin/jobs", {})).then((data) => ({ data }));
  const [vaults, issuers, jobs] = await Promise.all([vaultsOfService(admin), allIssuers(admin), orNone(jobsList)]);
  const webhooks: Named[] = [];
  for (const { id: vault } of vaults.filter((one) => withWebhooks && one.webhooks))
    for (const { id, url } of await orNone(admin.call("GET /v1/admin/vaults/{vault}/webhooks", { path: { vault } })))
      webhooks.push({ id, name: url && new URL(url).host });
  return [...vaults.map(named), ...issuers, ...webhooks, ...jobs.map(({ id, kind }) => ({ id, name: kind }))];
}

const IDS_OF_FILTER_MAX = 100;

/** Returns the Items of a vault with one of the ids that still exist. Sends a request for each 100 ids. */
export async function itemsOfVault(client: Client, vault: string, ids: readonly string[]): Promise<readonly Named[]> {
  const items: Named[] = [];
  for (let at = 0; at < ids.length; at += IDS_OF_FILTER_MAX) {
    const some = ids.slice(at, at + IDS_OF_FILTER_MAX);
    const query = { filter: some.map((id) => `id eq ${quotedInFilter(id)}`).join(" or "), archived: true };
    const found = await orNone(client.call("GET /v1/vaults/{vault}/items", { path: { vault }, query }));
    items.push(...found.map((item) => ({ id: item.id, name: "title" in item ? item.title : undefined })));
  }
  return items;
}
