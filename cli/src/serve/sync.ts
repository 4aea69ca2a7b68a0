import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ItemVaultError, type Policy, type Token, type Vault, type VaultEvent } from "@item-vault/client";
import { isDialect } from "@item-vault/model/dialect";
import { parseId } from "@item-vault/model/ids";
import { CliError } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";
import { ageOf, createVault, emptyCopy, type HeldVault, isCurrent, momentNow, setRow } from "./copy.ts";
import { idOf, readAllItems, readItems, type Reading } from "./read-vault.ts";

/**
 * Keeps the copy as the service is: reads all Items once, then waits for the events of each vault (contract 15) and reads again what they
 * name. An answer without an event says that the copy of the vault is what the service had when the request began.
 */

export interface Sync extends Reading {
  /** The text of the token. */
  readonly token: string;
  /** Names or ids of the vaults that are held; none: all that the token reads. */
  readonly wanted: readonly string[];
  /** Seconds that a request waits for an event. */
  readonly wait: number;
  readonly say: (message: string) => void;
  /** Is called after the copy was emptied, because the service refuses the token. */
  readonly onRefused: () => Promise<void>;
}

const EVENTS_MAX = 1000;
/** Milliseconds between two attempts: the first, and the longest. */
const RETRY_MS = { first: 500, longest: 5_000 };
/** A longer `Retry-After` is not waited for: the service may be back earlier. */
const RETRY_AFTER_SECONDS_MAX = 60;
const REFUSED_RETRY_MS = 60_000;

/** The token, as the head of a copy names it. */
export const hashOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** Runs until the signal aborts. Errors: throws a CliError when a vault that the user named does not exist. */
export async function keepCopy(sync: Sync): Promise<void> {
  const { signal, say, copy } = sync;
  const attempts = createAttempts(sync);
  while (!signal.aborted) {
    try {
      await followVaults(sync, attempts);
    } catch (error) {
      if (signal.aborted) return;
      if (!isRefusal(error)) {
        await attempts.failed(error);
        continue;
      }
      emptyCopy(copy);
      await sync.onRefused();
      say("the service refuses the token: the copy was emptied");
      await pause(REFUSED_RETRY_MS, signal);
    }
  }
}

const isRefusal = (error: unknown): boolean => error instanceof ItemVaultError && error.kind === "unauthorized";
const isKind = (error: unknown, kind: string): boolean => error instanceof ItemVaultError && error.kind === kind;
const pause = (milliseconds: number, signal: AbortSignal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined);

type Attempts = ReturnType<typeof createAttempts>;

/** Waits between attempts, and tells once when the service goes away and when it is back. */
function createAttempts({ say, signal }: Pick<Sync, "say" | "signal">) {
  let isAway = false;
  return {
    /** In: how many attempts have failed one after the other. Errors: throws a CliError. */
    async failed(error: unknown, failures = 1): Promise<void> {
      if (error instanceof CliError) throw error;
      // An answer of another shape than that of the contract is no reason to end.
      const message = error instanceof ItemVaultError ? error.message : MALFORMED;
      if (!isAway) say(`${printable(message)}: trying again`);
      isAway = true;
      const asked = error instanceof ItemVaultError ? Math.min(error.retryAfter ?? 0, RETRY_AFTER_SECONDS_MAX) * 1000 : 0;
      const delay = Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** failures) * (0.5 + Math.random() / 2);
      await pause(asked + delay, signal);
    },
    succeeded() {
      if (isAway) say("the service answers again");
      isAway = false;
    },
  };
}

const MALFORMED = "The answer of the service is malformed";
const malformed = () => new ItemVaultError(MALFORMED, { kind: "network", status: 0 });

/** Follows all vaults until one of them fails with a refusal of the token. */
async function followVaults(sync: Sync, attempts: Attempts): Promise<void> {
  const { client, copy, signal } = sync;
  const once = { signal, attempts: 1 };
  const { data: info } = await client.call("GET /v1/token", once);
  const { data: rows, headers } = await client.call("GET /v1/vaults", once);
  if (!isDialect(info.dialect) || !rows.every(({ id, name }) => parseId(id) !== undefined && typeof name === "string"))
    throw malformed();
  attempts.succeeded();
  setToken(sync, info, rows, headers.has("Item-Vault-Broken"));
  const stop = new AbortController();
  const ofAll = { ...sync, signal: AbortSignal.any([signal, stop.signal]) };
  try {
    await Promise.all([...copy.vaults.values()].map((vault) => followVault(ofAll, vault, attempts)));
    await pause(REFUSED_RETRY_MS, signal); // every vault was deleted, or the token reads none
  } finally {
    stop.abort();
  }
}

/** Makes the copy that of a token. What it has of other vaults, and all of it when it has another dialect, is dropped. */
function setToken({ copy, token, wanted }: Sync, info: Token, rows: readonly Vault[], isBroken: boolean): void {
  if (info.stale !== undefined)
    // An Item that is read after its event may be older than the event, and no other event would follow.
    throw new CliError("The token was issued with `stale`, so its reads may miss what the events name", {
      exit: "usage",
      hint: "Give serve a token that was issued without it.",
    });
  const known = copy.token?.info.dialect === info.dialect ? copy.vaults : new Map<string, HeldVault>();
  const chosen = wanted.length === 0 ? rows : rows.filter((row) => wanted.some((name) => isNamed(row, name)));
  const missing = wanted.find((name) => !rows.some((row) => isNamed(row, name)));
  if (missing !== undefined && !isBroken) throw new CliError(`There is no vault "${printable(missing)}"`, { exit: "notFound" });
  copy.token = { hash: hashOf(token), info };
  copy.isWhole = chosen.length === rows.length && !isBroken;
  copy.vaults = new Map(
    chosen.map((row) => {
      const id = idOf(row.id);
      const vault = known.get(id) ?? createVault(id, row);
      setRow(copy, vault, row);
      return [id, vault];
    }),
  );
  copy.changes++;
}

const isNamed = ({ id, name }: Vault, wanted: string): boolean => name === wanted || parseId(id) === parseId(wanted);

/** Follows a vault until the signal aborts or the vault is deleted. Errors: throws a refusal of the token. */
async function followVault(sync: Sync, vault: HeldVault, attempts: Attempts): Promise<void> {
  const { copy, signal } = sync;
  let isFilled = vault.cursor !== undefined;
  for (let failures = 0; !signal.aborted;) {
    try {
      if (!isFilled) await fill(sync, vault);
      isFilled = true;
      await poll(sync, vault);
      attempts.succeeded();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (isRefusal(error)) throw error;
      if (isKind(error, "vault_not_found")) {
        copy.vaults.delete(vault.id);
        copy.changes++;
        return;
      }
      // The events up to now are not kept any more, or the database was restored. The copy is served while it is read again.
      if (isFilled && isKind(error, "cursor_gone")) isFilled = false;
      else await attempts.failed(error, ++failures);
    }
  }
}

interface EventPage {
  readonly events: readonly Pick<VaultEvent, "item">[];
  readonly last: string;
}

/** A page of the events of a vault (contract 15.3). Errors: throws an ItemVaultError, and what JSON.parse throws. */
async function loadEvents(
  client: Client,
  { id }: HeldVault,
  query: { readonly after: string; readonly wait?: number; readonly limit?: number },
  policy: Policy,
): Promise<EventPage> {
  const answer = await client.send("GET", `/v1/vaults/${id}/events`, { query, ...policy });
  const page = (await answer.json()) as EventPage;
  if (!Array.isArray(page.events) || typeof page.last !== "string") throw malformed();
  return page;
}

/** Reads all of a vault. The cursor is from before, so what is written meanwhile is read again, and nothing read is older. */
async function fill(sync: Sync, vault: HeldVault): Promise<void> {
  const { client, copy, signal } = sync;
  const began = momentNow();
  const { last } = await loadEvents(client, vault, { after: "latest" }, { signal });
  await readAllItems(sync, vault);
  vault.cursor = last;
  vault.confirmed = began;
  copy.changes++;
}

/**
 * Waits for events, and reads what they name. It waits only when the copy is known to be that of a moment ago: so the first answer, after a
 * start or an interruption, comes at once.
 */
async function poll(sync: Sync, vault: HeldVault): Promise<void> {
  const { client, copy, signal } = sync;
  const began = momentNow();
  const isFresh = vault.confirmed !== undefined && ageOf(vault.confirmed) < sync.wait * 1000;
  const query = { after: vault.cursor!, wait: isFresh && isCurrent(vault) ? sync.wait : 0, limit: EVENTS_MAX };
  const waitEnded = new AbortController();
  vault.endWait = () => waitEnded.abort();
  const policy = { signal: AbortSignal.any([signal, waitEnded.signal]), attempts: 1 };
  const page = await loadEvents(client, vault, query, policy).catch((error: unknown) => {
    if (waitEnded.signal.aborted && !signal.aborted) return undefined;
    throw error;
  });
  vault.endWait = undefined;
  if (!page) return;
  const { events, last } = page;
  if (events.length > 0) {
    await readItems(sync, vault, itemsOf(events));
    const { data: row } = await client.call("GET /v1/vaults/{vault}", { path: { vault: vault.id }, signal });
    setRow(copy, vault, row);
  }
  vault.cursor = last;
  if (events.length < EVENTS_MAX) vault.confirmed = began;
}

/** The ids of the Items that the events name. */
const itemsOf = (events: EventPage["events"]): Set<string> =>
  new Set(events.flatMap(({ item }) => (item === undefined ? [] : idOf(item))));
