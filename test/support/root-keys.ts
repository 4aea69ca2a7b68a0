import { env } from "cloudflare:workers";
import { openKeyring, type Keyring } from "../../src/crypto/keyring.ts";
import { runJob, serviceWith } from "./jobs.ts";
import { admin } from "./service.ts";

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

/** Rewraps all rows. Out: how many it has put under the active key, how many are left under others, and what does not open. */
export async function rewrapAll(bindings: Partial<Env>): Promise<{ rewrapped: number; left: number; findings: any[] }> {
  const { state, progress, findings } = await runJob(await serviceWith(bindings), { kind: "rewrap" });
  if (state !== "done") throw new Error(`the job is ${state}`);
  return { rewrapped: progress.done, left: progress.total - progress.done, findings };
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
