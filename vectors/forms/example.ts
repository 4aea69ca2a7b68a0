import { type Keyring, openKeyring } from "../../src/crypto/keyring.ts";
import { must, type Result } from "../../src/model/result.ts";

/**
 * The stored forms (docs/format.md): how the service writes an example of each, and how it reads one. scripts/vectors.ts writes the
 * examples to ../*.json, which stay as they are from then on; test/pure/vectors.test.ts reads them. A form whose code draws random bytes
 * has no fixed ones here: its examples are for reading.
 */

/** An example: what a reader needs, and what it reads. */
export interface Example {
  readonly opens: unknown;
}

export interface Form<E extends Example = Example> {
  /** By their names. */
  readonly examples: Readonly<Record<string, () => Promise<E>>>;
  /** Reads an example with the code of the service. Out: what `opens` has to be. */
  readonly read: (example: E) => Promise<unknown>;
}

export const form = <E extends Example>(one: Form<E>): Form => one as unknown as Form;

export const valueOf = <T>(result: Result<T>): T => must("open an example", result);

export const [VAULT, ITEM, FILE, GENERATION, TOKEN] = [
  "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  "c0ffee00-5717-4562-b3fc-2c963f66afa6",
  "0b5a1c1e-6f8f-4d5e-9d53-3a4b8a9f0c11",
  "7d1e3f10-2f61-4a3b-8d0c-4b1f6a2e9c55",
  "5e0f8a70-93d4-4c7e-a1b2-c3d4e5f60718",
] as const;
/** Entries of the log of 2025-11-26: UUIDv7. */
export const ENTRIES = [
  "019ac035-2c00-7000-8000-000000000001",
  "019ac035-2c01-7000-8000-000000000002",
  "019ac035-2c02-7000-8000-000000000003",
] as const;
/** The bytes from `first` on, each one more than the one before. */
export const bytesFrom = (first: number, length = 32): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length }, (_, index) => (first + index) & 255);
export const ROOT_KEYS = JSON.stringify({ active: "k1", keys: { k1: bytesFrom(0).toBase64(), k2: bytesFrom(32).toBase64() } });

export const keyringOf = async (rootKeys: string): Promise<Keyring> => valueOf(await openKeyring(rootKeys));
export const TEXT = "a text: é 🔑";
