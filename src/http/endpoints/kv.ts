import { kvLogin as loginBody } from "../../api/bodies.ts";
import { KV_OPERATIONS } from "../../api/doors.ts";
import type { VerifiedClaims } from "../../crypto/token.ts";
import { admitBytes } from "../../memory-budget.ts";
import { DIALECTS, type Dialect, writeId } from "../../model/dialect.ts";
import { type ExchangeForm, JWT } from "../../model/exchange-form.ts";
import { fold } from "../../model/fold.ts";
import { parseId } from "../../model/ids.ts";
import type { Item, Summary } from "../../model/item.ts";
import { LIMITS, sizeOf } from "../../model/limits.ts";
import { fieldFinder, type ReferenceInItem } from "../../model/named.ts";
import { itemsIn, type Permission, vaultsWith } from "../../model/permission.ts";
import { parseBoolean, parseVersionOf } from "../../model/query.ts";
import { READABLE_VAULT } from "../../model/reference.ts";
import { fail, invalid, map, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { SECOND } from "../../model/time.ts";
import { loadSlice, type Slice } from "../../store/items/list.ts";
import { loadVersion } from "../../store/items/versions.ts";
import { loadNamedVault, resolveReferences } from "../../store/references/resolve.ts";
import { idIn, type WholeItem } from "../../store/references/search.ts";
import { loadForToken } from "../../store/vaults/authorized.ts";
import { parseBody } from "../body.ts";
import type { Context } from "../context.ts";
import { presentTime } from "../present/time.ts";
import { createdAtOf, expiryOf } from "../present/tokens.ts";
import { refuse } from "../refuse.ts";
import { type Call, type Content, type ParseCall, type Reply, serveBy } from "../route.ts";
import { exchangeBy } from "./token-exchange.ts";

/**
 * The read API of Vault KV v2 (contract 29): a vault is a mount, an Item a secret, and a field a key. The Items are found as references are
 * (contract 16). `kvRevoke` is in child-tokens.ts.
 */

type Answer = Promise<Result<Reply>>;

/** Presents a body, which clients decode into one struct: each attribute has to be there. */
const present = (c: Context, data: unknown, more: { readonly warnings?: readonly string[]; readonly auth?: object } = {}) => ({
  request_id: c.get("requestId"),
  lease_id: "",
  renewable: false,
  lease_duration: 0,
  data,
  wrap_info: null,
  warnings: more.warnings?.length ? more.warnings : null,
  auth: more.auth ?? null,
});

/** Returns a reader of the vaults in which the token has a permission. */
const readerFor = (claims: VerifiedClaims, needs: Permission) => {
  const { vaults: scope, dialect } = claims;
  return { token: claims, vaults: vaultsWith(needs, claims), scope, dialect };
};

/**
 * Answers a request for something in the vault of the path, or refuses one for a vault that the token does not read. A vault of such an id
 * has the denial in its log, as for a reference (contract 16.12).
 */
function answerWithin<T>({ c }: Call, found: Result<T>, answer: (value: T) => Result<Reply>): Result<Reply> {
  if (found.ok) return answer(found.value);
  const { kind, detail } = found.failure;
  if (kind !== "vault_not_found" && !(kind === "reference_not_found" && detail === READABLE_VAULT)) return found;
  const vault = idIn(c.req.param("mount")!);
  const entries = vault === undefined ? [] : [{ vault, result: "DENY" as const, items: [] }];
  return ok({ response: refuse(c, fail("out_of_scope")), entries });
}

/** Returns the log entry of a read. */
const readOf = (vault: string, ...items: readonly Pick<Summary, "id" | "version">[]) => ({
  entries: [{ vault, result: "SUCCESS" as const, items }],
});

/** Loads the Item of the path with its current fields. */
async function loadPath({ c, store, claims }: Call, needs: Permission): Promise<Result<WholeItem>> {
  const [vault, item] = [c.req.param("mount")!, c.req.param("path")!];
  const asked = { vault, item, section: undefined, field: "", attribute: "value" } as const;
  const found = await resolveReferences(store, { ...readerFor(claims, needs), whole: true }, [asked]);
  if (!found.ok) return found;
  return map(found.value[0]!, ({ whole }) => whole!);
}

export const kvRead = serveBy({
  /** 0 is the newest version, and so is an absent or empty text. */
  parse: ({ query: { rest } }: ParseCall): Result<number | undefined> =>
    /^0?$/.test(rest.get("version") ?? "") ? ok(undefined) : parseVersionOf(rest, "version"),

  async handle(call: Call, version: number | undefined): Answer {
    const current = await loadPath(call, KV_OPERATIONS.kvRead.needs);
    const found = current.ok && version !== undefined ? await loadEarlier(call, current.value, version) : current;
    return answerWithin(call, found, (item) => {
      const { values, ambiguous } = valuesOf(item, call.dialect);
      const metadata = { ...presentVersion(item), custom_metadata: null, version: item.version };
      const warnings = ambiguous.map((key) => `several fields are named ${JSON.stringify(key)}: none of them is among the keys`);
      return ok({ json: present(call.c, { data: values, metadata }, { warnings }), ...readOf(item.vault, item) });
    });
  },
});

type Read = Pick<Item, "id" | "vault" | "version" | "updatedAt" | "sections" | "fields">;

const loadEarlier = async ({ store, claims: token }: Call, current: Read, version: number): Promise<Result<Read>> =>
  version === current.version ? ok(current) : loadVersion(store, { token, vault: current.vault }, current.id, version);

const presentVersion = ({ updatedAt }: Pick<Item, "updatedAt">) => ({
  created_time: presentTime(updatedAt),
  deletion_time: "",
  destroyed: false,
});

/** Returns the values of an Item by their keys, and the keys of several fields (contract 29.6). */
function valuesOf({ sections, fields }: Read, dialect: Dialect) {
  const find = fieldFinder(sections, fields);
  const labels = new Map(sections.map(({ id, label }) => [id, label || id]));
  const named = fields.map(({ id, label, section }) => ({ field: label || id, section: section && labels.get(section) }));
  const within = named.flatMap(({ field, section }) => (section ? [{ field, section }] : []));
  const references = new Map<string, ReferenceInItem>([
    ...within.map((one) => [`${one.section}.${one.field}`, one] as const),
    // These come last, so that a label with a dot takes precedence over a section of that name.
    ...named.map(({ field }) => [field, { field, section: undefined }] as const),
  ]);
  const found = Array.from(references, ([key, reference]) => [key, find(reference)] as const);
  const values = found.flatMap(([key, one]) => {
    const field = one.ok && one.value.field;
    return field ? [[key, DIALECTS[dialect].fieldValue(field.type, field.value)] as const] : [];
  });
  return { values: Object.fromEntries(values), ambiguous: found.flatMap(([key, one]) => (one.ok ? [] : [key])) };
}

export const kvMetadata = serveBy({
  parse: ({ query: { rest } }: ParseCall): Result<boolean> => parseBoolean(rest, "list"),

  async handle(call: Call, isList: boolean): Answer {
    const path = call.c.req.param("path");
    if (isList) return listTitles(call, path === undefined ? "" : `${path}/`);
    if (path === undefined) return answerWithin(call, await loadMount(call), () => fail("item_not_found"));
    return answerWithin(call, await loadPath(call, KV_OPERATIONS.kvMetadata.needs), (item) => {
      const data = {
        cas_required: false,
        created_time: presentTime(item.createdAt),
        current_version: item.version,
        custom_metadata: null,
        delete_version_after: "0s",
        max_versions: 0,
        oldest_version: item.version,
        updated_time: presentTime(item.updatedAt),
        versions: { [item.version]: presentVersion(item) },
      };
      return ok({ json: present(call.c, data), ...readOf(item.vault, item) });
    });
  },
});

export const kvList = kvMetadata;

/** Returns the id of the vault of the path, if the token lists it. */
const loadMount = ({ c, store, claims }: Call): Promise<Result<string>> =>
  loadNamedVault(store, readerFor(claims, KV_OPERATIONS.kvList.needs), c.req.param("mount")!);

/** Lists the titles that begin with a prefix, without it. An Item that no path can name by its title appears as its id. */
async function listTitles(call: Call, prefix: string): Answer {
  const { c, dialect } = call;
  const vault = await loadMount(call);
  const titles = vault.ok ? await loadTitles(call, vault.value) : vault;
  return answerWithin(call, titles, ({ vault: of, items: listed }) => {
    const folded = Map.groupBy(listed, ({ title = "" }) => fold(title));
    const keys = listed.flatMap(({ id, title = "" }) => {
      if (!isPath(title) || folded.get(fold(title))!.length > 1) return prefix === "" ? [writeId(id, dialect)] : [];
      return title.startsWith(prefix) ? [title.slice(prefix.length)] : [];
    });
    if (keys.length === 0) return fail("item_not_found");
    const broken = listed.some(({ title }) => title === undefined);
    return ok({ json: present(c, { keys: keys.toSorted() }), ...readOf(of), broken });
  });
}

/** Returns true if a title leads to its Item: it is no id, and is unchanged by the normalization of paths in URLs and clients. */
const isPath = (title: string): boolean =>
  idIn(title) === undefined && !title.split("/").some((segment) => /^\.{0,2}$/.test(segment));

/** An Item that cannot be decrypted lacks only its title. */
type Titled = Pick<Summary, "id"> & Partial<Pick<Summary, "title">>;

interface Titles {
  readonly vault: string;
  readonly items: readonly Titled[];
}

/** Bytes of a listed Item besides its title, and of all Items of a list: a list is in memory as a whole. */
const TITLED_BYTES = 200;
const LIST_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Loads the titles of a vault. Fails as `loadSlice` does, with `invalid` if they are too many, and with `rate` if they are too many now.
 */
async function loadTitles({ store, claims: token, vaults }: Call, vault: string): Promise<Result<Titles>> {
  const access = { token, vault, items: itemsIn(vaults[vault]) };
  const titles: Titled[] = [];
  let bytes = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    const slice: Result<Slice> = await loadSlice(store, access, [[]], after);
    if (!slice.ok) return slice;
    for (const item of slice.value.items) {
      titles.push({ id: item.id, ...(!("broken" in item) && { title: item.title }) });
      bytes += TITLED_BYTES + ("broken" in item ? 0 : sizeOf(item.title));
    }
    if (bytes > LIST_BYTES_MAX) return invalid("the vault has too many Items for a list: read them by their titles");
    const admitted = admitBytes(store.share, bytes);
    if (!admitted.ok) return admitted;
    after = slice.value.next;
  }
  return ok({ vault, items: titles });
}

/** Tells a client that the mount has version 2, before it reads. Only its later reads are in the log. */
export async function kvMount(call: Call): Answer {
  const { c } = call;
  const found = await loadMount(call);
  const data = { path: `${c.req.param("mount")!}/`, type: "kv", options: { version: "2" } };
  return answerWithin(call, found, () => ok({ json: present(c, data), entries: [] }));
}

export async function kvToken({ c, store, claims }: Call): Answer {
  const { name, issuedAt, expiresAt } = claims;
  const data = {
    creation_time: issuedAt,
    creation_ttl: expiresAt - issuedAt,
    display_name: name,
    expire_time: expiryOf(claims),
    issue_time: createdAtOf(claims),
    policies: [],
    renewable: false,
    ttl: Math.max(0, expiresAt - Math.floor(store.now / SECOND)),
    type: "service",
  };
  return map(await loadForToken<[]>(store, claims), () => ({ json: present(c, data) }));
}

type OpenAnswer = Promise<Result<Content<unknown>>>;

export const kvLogin = async (c: Context): OpenAnswer =>
  map(await exchangeBy(c, readLogin), ({ access_token: client_token, expires_in: lease_duration }) => {
    const auth = { client_token, lease_duration, renewable: false, policies: [], metadata: null, token_type: "service" };
    return { json: present(c, null, { auth }) };
  });

/** Reads the body of a login. Clients without a configured role send "" or "default". */
async function readLogin({ req }: Context): Promise<Result<ExchangeForm>> {
  const body = await parseBody(req.raw, LIMITS.exchange);
  const parsed = body.ok ? parseValue(loginBody, body.value.json, "the body") : body;
  if (!parsed.ok) return parsed;
  const { jwt, role = "" } = parsed.value;
  const asked = role === "" || role === "default" ? {} : { rule: parseId(role), ruleName: role };
  return ok({ token: jwt.trim(), type: JWT, ...asked });
}

export const kvRenew = async (): OpenAnswer => invalid("lease is not renewable");

export const kvHealth = async (): OpenAnswer =>
  ok({ json: { initialized: true, sealed: false, standby: false, performance_standby: false } });
