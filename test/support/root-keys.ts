import { env } from "cloudflare:workers";
import { openKeyring, type Keyring } from "../../src/crypto/keyring.ts";
import { admin, type Reply } from "./service.ts";

/** The values of ROOT_KEYS at the stages of a rotation from k1, the key of the tests, to a new key. */

export const K1 = (JSON.parse(env.ROOT_KEYS) as { keys: { k1: string } }).keys.k1;

export interface Stages {
  /** The id of the new key: the storage of a file has a key of an earlier test under another id. */
  readonly id: string;
  readonly staged: Partial<Env>;
  readonly active: Partial<Env>;
  /** k1 is removed, and its public key is kept. */
  readonly removed: Partial<Env>;
  /** k1 is removed, and its tokens end. */
  readonly leaked: Partial<Env>;
}

const withKeys = (active: string, keys: object, verify?: object): Partial<Env> => ({
  ROOT_KEYS: JSON.stringify({ active, keys, verify }),
});

export const keyringOf = async ({ ROOT_KEYS }: Partial<Env>): Promise<Keyring> => {
  const opened = await openKeyring(ROOT_KEYS);
  if (!opened.ok) throw new Error(opened.failure.detail);
  return opened.value;
};

/** A new key, and the values of each stage. */
export async function newStages(): Promise<Stages> {
  const id = crypto.randomUUID().slice(0, 8);
  const key = crypto.getRandomValues(new Uint8Array(32)).toBase64();
  const { publicKey } = (await keyringOf(env)).active;
  return {
    id,
    staged: withKeys("k1", { k1: K1, [id]: key }),
    active: withKeys(id, { k1: K1, [id]: key }),
    removed: withKeys(id, { [id]: key }, { k1: publicKey }),
    leaked: withKeys(id, { [id]: key }),
  };
}

export const slice = (bindings: Partial<Env>, cursor?: string): Promise<Reply> =>
  admin("POST", `/v1/admin/keys/rewrap${cursor === undefined ? "" : `?cursor=${cursor}`}`, { env: bindings });

/** Sends slices until there is no cursor. Out: the sums. Throws at the first one that is refused. */
export async function rewrapAll(
  bindings: Partial<Env>,
): Promise<{ rewrapped: number; failed: number; left: number; slices: number }> {
  const sum = { rewrapped: 0, failed: 0, left: 0, slices: 0 };
  for (let cursor: string | undefined; ;) {
    const { status, body } = await slice(bindings, cursor);
    if (status !== 200) throw new Error(`a slice was answered ${status}`);
    sum.rewrapped += body.rewrapped;
    sum.failed += body.failed;
    sum.left = body.left;
    sum.slices++;
    cursor = body.cursor;
    if (cursor === undefined) return sum;
  }
}

export interface ListedKey {
  readonly id: string;
  readonly state: string;
  readonly fingerprint?: string;
  readonly publicKey?: string;
  readonly verifies: boolean;
  readonly vaults: number;
  readonly tokens: number;
  readonly endedTokens: number;
  readonly backup: boolean;
  readonly removable: boolean;
}

export const listKeys = async (bindings: Partial<Env> = {}): Promise<ListedKey[]> =>
  (await admin("GET", "/v1/admin/keys", { env: bindings })).body;

export const listedKey = async (bindings: Partial<Env>, id: string): Promise<ListedKey | undefined> =>
  (await listKeys(bindings)).find((key) => key.id === id);
