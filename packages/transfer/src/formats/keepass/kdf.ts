import { createCipheriv, createHash } from "node:crypto";
import { sourceFault } from "../../error.ts";
import { numberOf } from "./bytes.ts";
import { AES_KDF, type Kdf } from "./header.ts";

/** Key derivation of KDBX. Costs that would keep this program busy for minutes, or need more than 1 GiB, are refused. */

const AES_KDF_OF_4 = "7c02bb8279a74ac0927d114a00648238";
const ARGON2D = "ef636ddf8c29444b91f7a9a403e30a0c";
const ARGON2ID = "9e298b1956db4773b23dfc3ec6f0a1e6";

const KDF_MAX = {
  rounds: 1_000_000_000,
  memory: 1024 ** 3, // bytes
  passes: 64 * 1024 ** 3, // bytes written by all iterations together
  parallelism: 256,
};

const DERIVATIONS: Readonly<Record<string, (key: Uint8Array, kdf: Kdf) => Uint8Array | Promise<Uint8Array>>> = {
  [AES_KDF]: aes,
  [AES_KDF_OF_4]: aes,
  [ARGON2D]: argon2,
  [ARGON2ID]: argon2,
};

/** Returns the transformed key, 32 bytes, from the composite key. Throws a TransferError for an unknown or too costly derivation. */
export async function transformKey(key: Uint8Array, kdf: Kdf): Promise<Uint8Array> {
  const derive = DERIVATIONS[kdf.id];
  if (!derive) throw fault("is unknown");
  return derive(key, kdf);
}

const fault = (what: string) => sourceFault("The key derivation", what);

const LOWER = "Lower its cost in the settings of the database";

function numberIn({ parameters }: Kdf, name: string): number {
  return numberOf(parameters.get(name) ?? new Uint8Array());
}

/** The most zeros that are encrypted at once. */
const ZEROS = new Uint8Array(1024 * 1024);

function aes(key: Uint8Array, kdf: Kdf): Uint8Array {
  const [rounds, seed] = [numberIn(kdf, "R"), kdf.parameters.get("S")];
  if (rounds > KDF_MAX.rounds) throw fault(`has more than ${KDF_MAX.rounds} rounds. ${LOWER}`);
  if (rounds < 1 || seed?.length !== 32) throw fault("has no rounds or no seed");
  const halves = [key.subarray(0, 16), key.subarray(16)].map((half) => encryptRepeatedly(half, seed, rounds));
  return createHash("sha256").update(Buffer.concat(halves)).digest();
}

/** Encrypts a block repeatedly with AES-256: CBC over zeros is equivalent if the block is the initialization vector. */
function encryptRepeatedly(block: Uint8Array, seed: Uint8Array, rounds: number): Uint8Array {
  const cipher = createCipheriv("aes-256-cbc", seed, block);
  let last: Uint8Array = block;
  for (let left = rounds * 16; left > 0; left -= ZEROS.length)
    last = cipher.update(ZEROS.subarray(0, Math.min(left, ZEROS.length))).subarray(-16);
  return last;
}

async function argon2(key: Uint8Array, kdf: Kdf): Promise<Uint8Array> {
  const [memory, iterations, parallelism] = [numberIn(kdf, "M"), numberIn(kdf, "I"), numberIn(kdf, "P")];
  const salt = kdf.parameters.get("S") ?? new Uint8Array();
  if (memory > KDF_MAX.memory) throw fault(`needs more than 1 GiB of memory. ${LOWER}`);
  if (memory * iterations > KDF_MAX.passes) throw fault(`has too many iterations. ${LOWER}`);
  if (iterations < 1 || parallelism < 1 || parallelism > KDF_MAX.parallelism || memory < 8192 * parallelism || salt.length < 8)
    throw fault("has parameters that Argon2 does not define");
  if (numberIn(kdf, "V") !== 0x13 || kdf.parameters.has("K") || kdf.parameters.has("A"))
    throw fault("is a form of Argon2 that is not supported: only version 1.3 without a secret is");
  const { argon2d, argon2id } = await import("../../argon2.ts");
  const derive = kdf.id === ARGON2D ? argon2d : argon2id;
  const cost = { iterations, parallelism, memorySize: Math.floor(memory / 1024) };
  return derive({ password: key, salt, ...cost, hashLength: 32, outputType: "binary" });
}
