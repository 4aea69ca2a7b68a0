import { type Client, ItemVaultError, type Policy, type VaultEvent } from "@item-vault/client";
import { type Attempts, malformed, pause } from "./attempts.ts";
import { ageOf, dropItem, emptyCopy, type HeldVault, isCurrent, momentNow, setRow } from "./copy.ts";
import { type Credentials, hasEnded } from "./credentials.ts";
import { idOf, readAllItems, readBrokenItems, readItems, type Reading } from "./read-vault.ts";
import { holdVaults, type Listing } from "./vault-list.ts";

/**
 * Keeps the copy in sync with the service. It reads all Items once, waits for the events of each vault (contract 15), and reads again the
 * Items that they name. An answer without an event shows that the copy of the vault equals the service's state when the request began.
 */

export interface Sync extends Reading, Listing {
  /** Seconds that a request waits for an event. */
  readonly wait: number;
  readonly attempts: Attempts;
  readonly say: (message: string) => void;
  /** Is called after the copy was emptied, because the service refuses the token. */
  readonly onRefused: () => Promise<void>;
}

const EVENTS_MAX = 1000;
const REFUSED_RETRY_MS = 60_000;
/** Interval of looks for a missing vault that the token can read. Its deletion is noticed at most this late (contract 15.6). */
const ABSENT_SECONDS = 15;

/** The state of a copy, whichever token is the newest. */
interface Kept extends Omit<Sync, "client" | "token"> {
  readonly credentials: Credentials;
}

/** Runs until the signal aborts. Throws a CliError if a vault that the user named does not exist. */
export async function keepCopy({ credentials, ...kept }: Kept): Promise<void> {
  const { signal, attempts } = kept;
  let isStart = true;
  for (let failures = 0; !signal.aborted;) {
    const newest = credentials.newest();
    // A new token continues with the copy as soon as the service has confirmed it. Until then the copy belongs to the token before.
    const untilReplaced = AbortSignal.any([signal, credentials.replaced()]);
    try {
      await followVaults({ ...kept, client: newest.client, token: newest.token, signal: untilReplaced }, isStart, () => {
        isStart = false;
        failures = 0;
        credentials.confirm(newest);
        attempts.succeeded();
      });
    } catch (error) {
      if (untilReplaced.aborted) continue;
      if (!isRefusal(error)) {
        await attempts.failed(error, failures++, untilReplaced);
        continue;
      }
      // If a token has expired, its refusal proves nothing about the workload: the copy is served up to its age.
      if (!hasEnded(newest) || credentials.isRefused) await empty(kept);
      credentials.isWanted = true;
      await pause(REFUSED_RETRY_MS, untilReplaced);
    }
  }
}

async function empty({ copy, onRefused, say }: Pick<Kept, "copy" | "onRefused" | "say">): Promise<void> {
  emptyCopy(copy);
  await onRefused();
  say("the service refuses the token: the copy was emptied");
}

const isRefusal = (error: unknown): boolean => error instanceof ItemVaultError && error.kind === "unauthorized";
const isKind = (error: unknown, kind: string): boolean => error instanceof ItemVaultError && error.kind === kind;

/**
 * Follows all vaults until the token is refused, or the list of vaults cannot be read. The list is read again if a missing vault exists.
 * `onListed` is called after the list was read.
 */
async function followVaults(sync: Sync, isStart: boolean, onListed: () => void): Promise<void> {
  const { copy } = sync;
  const stop = new AbortController();
  const ofAll = { ...sync, signal: AbortSignal.any([sync.signal, stop.signal]) };
  const followed = new Map<HeldVault, Promise<void>>();
  let absent = new Set<string>();
  let refusal: unknown;
  try {
    for (let isFirst = isStart; !ofAll.signal.aborted; isFirst = false) {
      absent = await holdVaults(ofAll, { followed, isStart: isFirst });
      onListed();
      for (const vault of copy.vaults.values()) {
        if (followed.has(vault)) continue;
        const ended = followVault(ofAll, vault)
          .then(() => absent.add(vault.id))
          .catch((error: unknown) => {
            refusal ??= error;
            stop.abort();
          })
          .then(() => void followed.delete(vault));
        followed.set(vault, ended);
      }
      await untilOneIsThere(ofAll, absent);
    }
    throw refusal;
  } catch (error) {
    throw refusal ?? error;
  } finally {
    stop.abort();
    await Promise.all(followed.values());
  }
}

/** Looks for vaults at intervals, until one of them exists or the signal aborts. Throws a refusal of the token. */
async function untilOneIsThere(sync: Sync, vaults: ReadonlySet<string>): Promise<void> {
  const { client, signal, wait } = sync;
  while (!signal.aborted) {
    await pause(Math.min(ABSENT_SECONDS, wait) * 1000, signal);
    for (const id of vaults)
      try {
        await loadEvents(client, id, { after: "latest" }, { signal, attempts: 1 });
        return;
      } catch (error) {
        if (isRefusal(error)) throw error;
      }
  }
}

/** Follows a vault until the signal aborts, or the vault is deleted. Throws a refusal of the token. */
async function followVault(sync: Sync, vault: HeldVault): Promise<void> {
  const { copy, signal, attempts, wait } = sync;
  let isFilled = vault.cursor !== undefined;
  let [failures, itemsRead, nextCheck] = [0, 0, 0];
  while (!signal.aborted && copy.vaults.get(vault.id) === vault) {
    try {
      if (!isFilled) await fill(sync, vault);
      isFilled = true;
      const hasGrown = await poll(sync, vault);
      attempts.succeeded();
      failures = 0;
      // Items that the service can decrypt again may have no event. Either the next poll fails in the same way, or only this Item has
      // failed.
      if (vault.broken.size === 0 || !(hasGrown || performance.now() >= nextCheck)) continue;
      await readBrokenItems(sync, vault).catch(() => undefined);
      nextCheck = performance.now() + wait * 1000;
    } catch (error) {
      if (signal.aborted) return;
      if (isRefusal(error)) throw error;
      if (isKind(error, "vault_not_found")) {
        if (copy.vaults.get(vault.id) === vault) copy.vaults.delete(vault.id);
        copy.changes++;
        return;
      }
      // The events up to now are no longer kept, or the database was restored. The copy is served while it is read again.
      const isGone = isFilled && isKind(error, "cursor_gone");
      if (isGone) isFilled = false;
      const before = itemsRead;
      itemsRead = vault.fill?.read.size ?? 0;
      if (itemsRead > before) failures = 0;
      if (!isGone || failures > 0) await attempts.failed(error, failures, signal);
      failures++;
    }
  }
}

interface EventPage {
  readonly events: readonly Pick<VaultEvent, "item" | "type">[];
  readonly last: string;
}

/** Returns a page of the events of a vault (contract 15.3). Throws an ItemVaultError, and errors of JSON.parse. */
async function loadEvents(
  client: Client,
  vault: string,
  query: { readonly after: string; readonly wait?: number; readonly limit?: number },
  policy: Policy,
): Promise<EventPage> {
  const answer = await client.send("GET", `/v1/vaults/${vault}/events`, { query, ...policy });
  const page = (await answer.json()) as EventPage;
  if (!Array.isArray(page.events) || typeof page.last !== "string") throw malformed();
  return page;
}

/**
 * Reads all of a vault. The cursor is older than the read. So data written during the read is read again, and no data in the copy is older
 * than the cursor. After a failure the next call continues with the remaining Items.
 */
async function fill(sync: Sync, vault: HeldVault): Promise<void> {
  const { client, copy, signal } = sync;
  const began = momentNow();
  if (!vault.fill) {
    const { last } = await loadEvents(client, vault.id, { after: "latest" }, { signal, attempts: 1 });
    vault.fill = { cursor: last, began, read: new Set() };
  }
  await readAllItems(sync, vault, vault.fill.read);
  vault.cursor = vault.fill.cursor;
  vault.confirmed = vault.fill.began;
  vault.fill = undefined;
  copy.changes++;
}

/**
 * Waits for events, and reads the Items that they name. It waits only if the copy was confirmed a moment ago: so the first answer, after a
 * start or an interruption, comes immediately. Returns true if the copy has more Items than before.
 */
async function poll(sync: Sync, vault: HeldVault): Promise<boolean> {
  const { client, copy, signal } = sync;
  const began = momentNow();
  const isFresh = vault.confirmed !== undefined && ageOf(vault.confirmed) < sync.wait * 1000;
  const query = { after: vault.cursor!, wait: isFresh && isCurrent(vault) ? sync.wait : 0, limit: EVENTS_MAX };
  const waitEnded = new AbortController();
  vault.endWait = () => waitEnded.abort();
  const policy = { signal: AbortSignal.any([signal, waitEnded.signal]), attempts: 1 };
  const page = await loadEvents(client, vault.id, query, policy).catch((error: unknown) => {
    if (waitEnded.signal.aborted && !signal.aborted) return undefined;
    throw error;
  });
  vault.endWait = undefined;
  if (!page) return false;
  const { events, last } = page;
  const before = vault.items.size;
  const writes = numberOf(last) - numberOf(vault.cursor!);
  // There are writes without an event where the token has some Items of the vault only (contract 8.15).
  if (last !== vault.cursor) {
    const isThere = itemsOf(events);
    for (const id of isThere.keys()) {
      if (isThere.get(id)) continue;
      dropItem(copy, vault, id);
      vault.broken.delete(id);
    }
    await readItems(
      sync,
      vault,
      [...isThere.keys()].filter((id) => isThere.get(id)),
    );
    const { data: row } = await client.call("GET /v1/vaults/{vault}", { path: { vault: vault.id }, signal });
    setRow(copy, vault, row);
  }
  vault.cursor = last;
  // A full page may be followed by more events. If the token has only some Items of the vault, the page is shorter.
  if (writes < EVENTS_MAX) vault.confirmed = began;
  return vault.items.size > before;
}

/** The number of a write with which a cursor begins (contract 15.3). */
const numberOf = (cursor: string): number => Number.parseInt(cursor, 10);

/** Events after which the vault does not have the Item. */
const DELETIONS: ReadonlySet<string> = new Set<VaultEvent["type"]>(["item.deleted", "item.destroyed"]);

/** Returns the ids of the Items that the events name, each with whether the vault has the Item behind the last of them. */
function itemsOf(events: EventPage["events"]): ReadonlyMap<string, boolean> {
  const isThere = new Map<string, boolean>();
  for (const { item, type } of events) {
    if (item === undefined) continue;
    const id = idOf(item);
    // A deleted Item has versions too.
    isThere.set(id, type === "item.version_destroyed" ? (isThere.get(id) ?? true) : !DELETIONS.has(type));
  }
  return isThere;
}
