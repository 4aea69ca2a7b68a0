import { describe, expect, it } from "vitest";
import { formatKeyList, parseKeyList } from "../../src/crypto/key-list.ts";
import { type Keyring, openKeyring } from "../../src/crypto/keyring.ts";
import { blindIndex, open, type KeyedAssociatedData, seal } from "../../src/crypto/seal.ts";
import { addVaultKey, unwrapVaultKeys, type WrappedKeys } from "../../src/crypto/vault-keys.ts";

/** docs/security.md, Encryption: the root keys, the keys derived from them, and the vaults' keys that they wrap. */

const bytes = (fill: number, length = 32) => new Uint8Array(length).fill(fill).toBase64();
const [A, B] = [bytes(1), bytes(2)];
const secretOf = (keys: Record<string, string>, active = "k1") => JSON.stringify({ active, keys });

async function keyringOf(keys: Record<string, string>, active?: string): Promise<Keyring> {
  const keyring = await openKeyring(secretOf(keys, active));
  if (!keyring.ok) throw new Error("refused");
  return keyring.value;
}

/** Contract 20.4. */
describe("a value of ROOT_KEYS", () => {
  it.each<[string, string | undefined]>([
    ["that is missing", undefined],
    ["that is empty", ""],
    ["that is a blank", " "],
    ["that is neither JSON nor base64", `${A}!`],
    ["that is a key of 31 bytes", bytes(1, 31)],
    ["that is a key of 33 bytes", bytes(1, 33)],
    ["that is a key in quotes", JSON.stringify(A)],
    ["that is a placeholder", "replace-me"],
    ["that is a placeholder with a remark", "replace-me: openssl rand -base64 32"],
    ["that is truncated", secretOf({ k1: A }).slice(0, -1)],
    ["that is null", "null"],
    ["that is a number", "1"],
    ["that is a list", JSON.stringify([A])],
    ["that is an empty object", "{}"],
    ["without keys", JSON.stringify({ active: "k1" })],
    ["with null for keys", JSON.stringify({ active: "k1", keys: null })],
    ["with a text for keys", JSON.stringify({ active: "k1", keys: A })],
    ["with no key in keys", secretOf({})],
    ["without active", JSON.stringify({ keys: { k1: A } })],
    ["whose active key is not among the keys", secretOf({ k1: A }, "k2")],
    ["whose active key is a property that every object inherits", secretOf({ k1: A }, "constructor")],
    ["with a list for active", JSON.stringify({ active: ["k1"], keys: { k1: A } })],
    ["with a key of 31 bytes", secretOf({ k1: bytes(1, 31) })],
    ["with a key of 33 bytes", secretOf({ k1: bytes(1, 33) })],
    ["with an empty key", secretOf({ k1: "" })],
    ["with one malformed key among others", secretOf({ k1: A, k2: bytes(2, 16) })],
    ["with a key that is not base64", secretOf({ k1: `${A.slice(0, -2)}!=` })],
    ["with a key in base64url", secretOf({ k1: bytes(255).replaceAll("/", "_") })],
    ["with a key in hexadecimal", secretOf({ k1: "01".repeat(32) })],
    ["with a number for a key", JSON.stringify({ active: "k1", keys: { k1: 1 } })],
    ["with null for a key", JSON.stringify({ active: "k1", keys: { k1: null } })],
    ["with an empty id", secretOf({ "": A }, "")],
    ["with an id of more than 32 characters", secretOf({ ["k".repeat(33)]: A }, "k".repeat(33))],
    ["with a blank in an id", secretOf({ "k 1": A }, "k 1")],
    ["with an id that is not ASCII", secretOf({ ké: A }, "ké")],
    ["with null for verify", JSON.stringify({ active: "k1", keys: { k1: A }, verify: null })],
    ["with a list for verify", JSON.stringify({ active: "k1", keys: { k1: A }, verify: [B] })],
    ["with a public key of 31 bytes", JSON.stringify({ active: "k1", keys: { k1: A }, verify: { k0: bytes(2, 31) } })],
    ["with a public key that is a number", JSON.stringify({ active: "k1", keys: { k1: A }, verify: { k0: 1 } })],
    ["with a malformed id of a public key", JSON.stringify({ active: "k1", keys: { k1: A }, verify: { "k 0": B } })],
    ["with an id in keys and in verify", JSON.stringify({ active: "k1", keys: { k1: A }, verify: { k1: B } })],
    ["with one key under two ids", secretOf({ k1: A, k2: A })],
    ["with an id twice in keys", `{"active":"k1","keys":{"k1":"${B}","k1":"${A}"}}`],
    ["with keys twice", `{"active":"k1","keys":{"k2":"${B}"},"keys":{"k1":"${A}"}}`],
    ["with active twice", `{"active":"k2","active":"k1","keys":{"k1":"${A}"}}`],
    ["whose active key is only verified", JSON.stringify({ active: "k0", keys: { k1: A }, verify: { k0: B } })],
  ])("%s is refused as misconfigured, and the failure contains no part of the value", async (_, secret) => {
    const keyring = await openKeyring(secret);
    expect(keyring).toMatchObject({ ok: false, failure: { kind: "misconfigured" } });
    const failure = JSON.stringify(keyring);
    for (const piece of [A, A.slice(0, 8), bytes(2).slice(0, 8), "k1"]) expect(failure).not.toContain(piece);
  });

  it("is opened as a map from key ids to keys, which contains the active key", async () => {
    const keyring = await keyringOf({ k1: A, "a-_Z9": B }, "a-_Z9");
    expect([...keyring.keys.keys()]).toEqual(["k1", "a-_Z9"]);
    expect(keyring.active).toBe(keyring.keys.get("a-_Z9"));
  });

  it.each([
    ["alone", A],
    ["with blanks and a line feed around it", ` ${A}\n`],
    ["without padding", A.replaceAll("=", "")],
  ])("that is one key is opened as the key k1: %s", async (_, secret) => {
    const keyring = await openKeyring(secret);
    const { active } = await keyringOf({ k1: A });
    expect(keyring).toMatchObject({ ok: true, value: { active: { id: "k1", publicKey: active.publicKey } } });
  });

  it("that is a placeholder is refused with what to do", async () => {
    const detail = expect.stringContaining("openssl rand -base64 32");
    expect(await openKeyring("replace-me")).toMatchObject({ failure: { kind: "misconfigured", detail } });
  });

  it("may have attributes of a later release", async () => {
    expect((await openKeyring(JSON.stringify({ active: "k1", keys: { k1: A }, later: 1 }))).ok).toBe(true);
  });

  it("gives each key a fingerprint: the first 8 bytes of the SHA-256 of its public key", async () => {
    const { k1, k2 } = Object.fromEntries((await keyringOf({ k1: A, k2: B })).verifying);
    const hash = await crypto.subtle.digest("SHA-256", Uint8Array.fromBase64(k1!.publicKey));
    expect(k1!.fingerprint).toBe(new Uint8Array(hash).toHex().slice(0, 16));
    expect(k2!.fingerprint).not.toBe(k1!.fingerprint);
  });

  it("has the public keys of `verify` beside those of `keys`, and no other part of them", async () => {
    const { publicKey, fingerprint } = (await keyringOf({ k1: A })).active;
    const opened = await openKeyring(JSON.stringify({ active: "k2", keys: { k2: B }, verify: { k1: publicKey } }));
    if (!opened.ok) throw new Error("refused");
    expect([...opened.value.keys.keys()]).toEqual(["k2"]);
    expect(opened.value.verifying.get("k1")).toMatchObject({ id: "k1", publicKey, fingerprint });
  });

  it("is opened once: the same value gives the same keyring object, and another value another keyring", async () => {
    const first = await keyringOf({ k1: A });
    expect(await keyringOf({ k1: A })).toBe(first);
    expect((await keyringOf({ k1: B })).id).not.toBe(first.id);
  });
});

describe("a derived key", () => {
  const EXPORT_FORMATS = { wrapping: "raw", registry: "raw", signing: "pkcs8" } as const;

  it.each(["wrapping", "registry", "signing"] as const)("cannot be extracted: %s", async (use) => {
    const key = (await keyringOf({ k1: A })).active[use];
    expect(key.extractable).toBe(false);
    for (const format of [EXPORT_FORMATS[use], "jwk"] as const) {
      await expect(crypto.subtle.exportKey(format, key)).rejects.toThrow(/extractable/);
    }
  });

  it("has one use: the registry key does not open a text that the wrapping key sealed", async () => {
    const { wrapping, registry } = (await keyringOf({ k1: A })).active;
    const id = crypto.randomUUID();
    const associatedData: KeyedAssociatedData = { kind: "token", vault: id, record: id, version: 1, key: "k1" };
    expect((await open(registry, associatedData, await seal(wrapping, associatedData, "x"))).ok).toBe(false);
    expect((await open(wrapping, associatedData, await seal(wrapping, associatedData, "x"))).ok).toBe(true);
  });

  it("depends on the root key only: a signature verifies in another keyring with the same root key, and with no other root key", async () => {
    const text = new TextEncoder().encode("text");
    const signature = await crypto.subtle.sign("Ed25519", (await keyringOf({ k1: A })).active.signing, text);
    const verifies = async (keys: Record<string, string>, id: string) =>
      crypto.subtle.verify("Ed25519", (await keyringOf(keys, id)).active.verifying, signature, text);
    expect([await verifies({ k1: B }, "k1"), await verifies({ k9: A }, "k9"), await verifies({ k1: A }, "k1")]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("the keys of a vault", () => {
  const VAULT = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
  const OTHER = "c0ffee00-5717-4562-b3fc-2c963f66afa6";
  const KEY = "00000000-0000-7000-8000-000000000001";
  const REFUSED = { ok: false, failure: { kind: "misconfigured" } };
  const unwrap = (keyring: Keyring, row: WrappedKeys, vault = VAULT) => unwrapVaultKeys(keyring, vault, row, 0);

  it("are unwrapped under the root key that was active when they were created", async () => {
    const { keys, wrapped } = await addVaultKey(await keyringOf({ k1: A }), VAULT, KEY);
    const unwrapped = await unwrap(await keyringOf({ k1: A, k2: B }, "k2"), wrapped);
    const { data, id, number } = keys.newest;
    const associatedData: KeyedAssociatedData = { kind: "vaultName", vault: VAULT, record: VAULT, version: 1, key: id };
    const opened = unwrapped.ok
      ? await open(unwrapped.value.newest.data, associatedData, await seal(data, associatedData, "x"))
      : unwrapped;
    expect(opened).toEqual({ ok: true, value: "x" });
    expect(unwrapped.ok && (await blindIndex(unwrapped.value.index, "x"))).toBe(await blindIndex(keys.index, "x"));
    expect([id, number, keys.all]).toEqual([KEY.replaceAll("-", ""), 1, [keys.newest]]);
  });

  it("are a list in which a new key has the next number and comes first, and the earlier ones stay", async () => {
    const keyring = await keyringOf({ k1: A });
    const first = await addVaultKey(keyring, VAULT, KEY);
    const both = await addVaultKey(await keyringOf({ k1: A, k2: B }, "k2"), VAULT, OTHER, first);
    expect(both.wrapped).toMatchObject({ rootKeyId: "k2", list: expect.stringMatching(`^${OTHER} 002 .*\n${KEY} 001 `) });
    const unwrapped = await unwrap(await keyringOf({ k2: B }, "k2"), both.wrapped);
    expect(unwrapped.ok && unwrapped.value.all.map(({ number }) => number)).toEqual([2, 1]);
    expect(unwrapped.ok && unwrapped.value.newest).toBe(unwrapped.ok && unwrapped.value.all[0]);
    const indexes = [first.keys, both.keys, unwrapped.ok ? unwrapped.value : undefined].map((keys) =>
      blindIndex(keys!.index, "x"),
    );
    expect(new Set(await Promise.all(indexes)).size).toBe(1);
  });

  it("have the numbers up to 255, which no new key exceeds", async () => {
    const keyring = await keyringOf({ k1: A });
    const { keys, wrapped } = await addVaultKey(keyring, VAULT, KEY);
    const last = { index: keys.index, newest: { ...keys.newest, number: 254 }, all: [] };
    expect((await addVaultKey(keyring, VAULT, OTHER, { keys: last, wrapped })).keys.newest.number).toBe(255);
    last.newest.number = 255;
    await expect(addVaultKey(keyring, VAULT, OTHER, { keys: last, wrapped })).rejects.toThrow(RangeError);
  });

  it("cannot be extracted", async () => {
    const keyring = await keyringOf({ k1: A });
    const { keys, wrapped } = await addVaultKey(keyring, VAULT, KEY);
    const unwrapped = await unwrap(keyring, wrapped);
    for (const each of [keys, unwrapped.ok ? unwrapped.value : undefined]) {
      expect([each?.newest.data.extractable, each?.index.extractable]).toEqual([false, false]);
    }
  });

  it("are refused under another root key with the same id", async () => {
    const { wrapped } = await addVaultKey(await keyringOf({ k1: A }), VAULT, KEY);
    expect(await unwrap(await keyringOf({ k1: B }), wrapped)).toMatchObject(REFUSED);
  });

  it("are refused without their root key, and under another root key id", async () => {
    const keyring = await keyringOf({ k1: A, k2: B });
    const { wrapped } = await addVaultKey(keyring, VAULT, KEY);
    expect(await unwrap(keyring, { ...wrapped, rootKeyId: "k2" })).toMatchObject(REFUSED);
    expect(await unwrap(await keyringOf({ k2: B }, "k2"), wrapped)).toMatchObject(REFUSED);
  });

  it("are refused for another vault", async () => {
    const keyring = await keyringOf({ k1: A });
    const { wrapped } = await addVaultKey(keyring, VAULT, KEY);
    expect(await unwrap(keyring, wrapped, OTHER)).toMatchObject(REFUSED);
  });

  it("are refused when the list was changed, although the unchanged one was unwrapped and cached before", async () => {
    const keyring = await keyringOf({ k1: A });
    const { wrapped } = await addVaultKey(keyring, VAULT, KEY);
    expect((await unwrap(keyring, wrapped)).ok).toBe(true);
    const [key] = parseKeyList(wrapped.list);
    const { data, index } = key!;
    const lists = [
      [{ ...key!, data: index, index: data }],
      [{ ...key!, data: index }],
      [{ ...key!, index: data }],
      [{ ...key!, index: `${index.slice(0, -4)}AAAA` }],
      [{ ...key!, number: 2 }],
      [{ ...key!, id: OTHER }],
      [key!, key!],
      [{ ...key!, number: 2 }, key!],
    ].map(formatKeyList);
    for (const list of [...lists, "", "\n", `${wrapped.list}\n`, `${wrapped.list} `, wrapped.list.toUpperCase(), "[]", KEY])
      expect(await unwrap(keyring, { ...wrapped, list })).toMatchObject(REFUSED);
  });
});
