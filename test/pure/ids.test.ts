import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base32, idBytes, operationId, parseId, uuidOf } from "../../src/model/ids.ts";
import { writeId } from "../../src/model/dialect.ts";
import { freshVault } from "../support/service.ts";

/** Contract 1.3: ids, in their two forms. */

const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const SHORT = "h6uf6zcxc5cwfm74fsld6zvpuy";
const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });

describe("an id", () => {
  it("has the two forms of the contract's example", () => {
    expect(writeId(UUID, "connect")).toBe(SHORT);
    expect(writeId(UUID, "uuid")).toBe(UUID);
    expect(parseId(SHORT)).toBe(UUID);
  });

  it.each([
    ["00000000-0000-0000-0000-000000000000", "aaaaaaaaaaaaaaaaaaaaaaaaaa"],
    ["ffffffff-ffff-ffff-ffff-ffffffffffff", "77777777777777777777777774"],
    ["00000000-0000-0000-0000-000000000001", "aaaaaaaaaaaaaaaaaaaaaaaaae"],
  ])("has the form %s and the form %s", (uuid, short) => {
    expect([writeId(uuid, "connect"), parseId(short)]).toEqual([short, uuid]);
  });

  it("is the same in both forms, whatever its bits are", () => {
    fc.assert(
      fc.property(fc.uuid({ version: [1, 4, 7] }), (uuid) => {
        const short = writeId(uuid, "connect");
        expect(short).toMatch(/^[a-z2-7]{26}$/);
        expect([parseId(short), parseId(uuid), parseId(uuid.toUpperCase())]).toEqual([uuid, uuid, uuid]);
      }),
    );
  });

  it.each([
    ["has non-zero padding bits", "h6uf6zcxc5cwfm74fsld6zvpuz"],
    ["has non-zero padding bits", "aaaaaaaaaaaaaaaaaaaaaaaaab"],
    ["has a 0", "06uf6zcxc5cwfm74fsld6zvpuy"],
    ["has a 1", "h1uf6zcxc5cwfm74fsld6zvpuy"],
    ["has an 8", "h6uf6zcxc5cwfm74fsld6zvpu8"],
    ["has a 9", "99999999999999999999999999"],
  ])("of 26 characters that %s is well-formed and names nothing", async (_, text) => {
    expect(parseId(text)).toBe(text);
    const { items, call } = await freshVault();
    expect((await call("GET", `${items}/${text}`)).body).toEqual({ status: 404, message: `item ${text} not found` });
  });

  it.each([
    "",
    "x",
    SHORT.toUpperCase(),
    `${SHORT}a`,
    SHORT.slice(1),
    UUID.replaceAll("-", ""),
    `{${UUID}}`,
    `${UUID} `,
    `${UUID}\n`,
    `urn:uuid:${UUID}`,
  ])("has not the form %j", (text) => {
    expect(parseId(text)).toBeUndefined();
  });

  it("has one canonical text: what parseId gives, it gives again", () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9]{26}$/), fc.stringMatching(/^[a-z2-7]{26}$/), fc.uuid());
    fc.assert(
      fc.property(text, (given) => {
        const id = parseId(given);
        if (id === undefined) return;
        expect(parseId(id)).toBe(id);
        expect(parseId(given.toLowerCase())).toBe(id);
      }),
    );
  });

  it("is 16 bytes", () => {
    fc.assert(
      fc.property(bytes(16), (given) => {
        expect(idBytes(parseId(base32(given))!)).toEqual(given);
      }),
    );
  });
});

describe("base32", () => {
  it.each([
    ["", ""],
    ["f", "my"],
    ["fo", "mzxq"],
    ["foo", "mzxw6"],
    ["foob", "mzxw6yq"],
    ["fooba", "mzxw6ytb"],
    ["foobar", "mzxw6ytboi"],
  ])("of %j is %j (RFC 4648 section 10, unpadded and in lower case)", (text, encoded) => {
    expect(base32(new TextEncoder().encode(text))).toBe(encoded);
  });
});

describe("operationId", () => {
  const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

  it("is a UUIDv7: its version, its variant, its time", () => {
    fc.assert(
      fc.property(time, bytes(10), (now, random) => {
        const id = operationId(now, random);
        expect(id).toMatch(V7);
        expect(parseInt(id.replace("-", "").slice(0, 12), 16)).toBe(now);
      }),
    );
  });

  it("sorts by time, whatever the random bytes are", () => {
    fc.assert(
      fc.property(time, time, bytes(10), bytes(10), (a, b, one, other) => {
        fc.pre(a !== b);
        expect(operationId(a, one) < operationId(b, other)).toBe(a < b);
      }),
    );
  });
});

describe("uuidOf", () => {
  it("is a UUIDv4 of the bytes: its version, its variant, and the same each time", () => {
    fc.assert(
      fc.property(bytes(16), (random) => {
        const id = uuidOf(random);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect([uuidOf(random), parseId(id)]).toEqual([id, id]);
      }),
    );
  });
});
