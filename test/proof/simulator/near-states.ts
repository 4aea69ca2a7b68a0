import { openKeyring } from "../../../src/crypto/keyring.ts";
import { noncePrefix } from "../../../src/crypto/seal.ts";
import { unwrapVaultKeys } from "../../../src/crypto/vault-keys.ts";
import { must } from "../../../src/model/result.ts";
import { openSummary } from "../../../src/store/items/items.ts";
import type { World } from "./world.ts";

/** What was true at which time in the primary: the Items with their entity tags, and which tokens were not revoked. A restore of D1 makes new states. */
export interface PrimaryStates {
  /** The states of an Item with this content: more than one, when a restore has brought it back. */
  readonly of: (item: string, content: Content) => readonly ItemState[];
  /** Whether a token was valid at any time from one to another one. In: its hash, because a repeated request may issue two under one id. */
  readonly wasValid: (token: string, from: number, to: number) => boolean;
  /** Whether it was not. */
  readonly wasInvalid: (token: string, from: number, to: number) => boolean;
}

/** The content of an Item: its first tag, which each write replaces by a new one, or its entity tag. */
export type Content = { readonly value: string } | { readonly entityTag: string };

export interface ItemState {
  /** Its number among the states of its Item. */
  readonly index: number;
  readonly entityTag: string;
  /** Its first tag; the empty text until the row is opened. */
  value: string;
  /** When it was there, in Unix milliseconds. */
  readonly from: number;
  /** `Infinity` for the current one. */
  until: number;
}

interface Validity {
  readonly from: number;
  until: number;
}

interface Row {
  readonly id: string;
  readonly vault: string;
  readonly version: number;
  readonly overview: string;
  readonly details: string;
  readonly root: string;
  readonly keys: string;
}

const SQL = {
  items: `
    SELECT items.id, vaults.id AS vault, version, overview, details, root_key_id AS root, keys
    FROM items JOIN vaults ON vaults.id = vault_id`,
  tokens: "SELECT claims FROM tokens",
};

/** In: the root keys of the Worker. */
export function followStates({ clock, database }: World, rootKeys: string): PrimaryStates {
  // Another name than that of the Worker's keyring, in whose cache no keys appear through this.
  const keyring = openKeyring(JSON.stringify({ ...(JSON.parse(rootKeys) as object), of: "states" }));

  const items = new Map<string, ItemState[]>();
  const tokens = new Map<string, Validity[]>();

  /** Completes before anything else happens, because it waits for nothing. */
  async function open({ vault, root, keys, ...row }: Row): Promise<string> {
    const opened = await unwrapVaultKeys(must("open the root keys", await keyring), vault, { rootKeyId: root, list: keys }, 0);
    const summary = await openSummary(must("open the keys of the vault", opened), vault, row);
    return must("open the Item", summary).tags[0]!;
  }

  function record(): void {
    const now = clock.now();
    for (const row of database.query<Row>(SQL.items)) {
      const { id, version, details } = row;
      const states = items.get(id) ?? [];
      items.set(id, states);
      const last = states.at(-1);
      const entityTag = `"${version}-${noncePrefix(details).toHex()}"`;
      if (last?.entityTag === entityTag) continue;
      if (last) last.until = now;
      const state = { index: states.length, entityTag, value: "", from: now, until: Infinity };
      states.push(state);
      void open(row).then((value) => (state.value = value));
    }
    const valid = new Set(database.query<{ claims: string }>(SQL.tokens).map(({ claims }) => claims));
    for (const hash of valid) {
      const times = tokens.get(hash) ?? [];
      tokens.set(hash, times);
      if (times.at(-1)?.until !== Infinity) times.push({ from: now, until: Infinity });
    }
    for (const [hash, times] of tokens) if (!valid.has(hash) && times.at(-1)!.until === Infinity) times.at(-1)!.until = now;
  }
  database.follow(record);

  return {
    of(item, content) {
      const [name] = Object.entries(content) as ["value" | "entityTag", string][];
      return items.get(item)?.filter((state) => state[name![0]] === name![1]) ?? [];
    },
    wasValid: (token, from, to) => (tokens.get(token) ?? []).some((time) => time.until >= from && time.from <= to),
    wasInvalid(token, from, to) {
      let since = -Infinity;
      for (const time of tokens.get(token) ?? []) {
        if (since <= to && time.from >= from) return true;
        since = time.until;
      }
      return since <= to;
    },
  };
}
