import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { base32, idBytes, operationId, parseId, uuidOf } from "../../src/model/ids.ts";

/** Contract 3.1 to 3.3: the two forms of an id. */

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

  it("is parsed to the same UUID from both forms, for any bits", () => {
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
    ["contains a 0", "06uf6zcxc5cwfm74fsld6zvpuy"],
    ["contains a 1", "h1uf6zcxc5cwfm74fsld6zvpuy"],
    ["contains an 8", "h6uf6zcxc5cwfm74fsld6zvpu8"],
    ["contains a 9", "99999999999999999999999999"],
  ])("of 26 characters that %s has the form of an id", (_, text) => {
    expect(parseId(text)).toBe(text);
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
  ])("does not have the form %j", (text) => {
    expect(parseId(text)).toBeUndefined();
  });

  it("has one canonical text, which parseId returns unchanged", () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9]{26}$/), fc.stringMatching(/^[a-z2-7]{26}$/), fc.uuid());
    fc.assert(
      fc.property(text, (input) => {
        const id = parseId(input);
        if (id === undefined) return;
        expect(parseId(id)).toBe(id);
        expect(parseId(input.toLowerCase())).toBe(id);
      }),
    );
  });

  it("has 16 bytes, which its base32 form encodes", () => {
    fc.assert(
      fc.property(bytes(16), (idValue) => {
        expect(idBytes(parseId(base32(idValue))!)).toEqual(idValue);
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

  it("has the version, the variant and the time of a UUIDv7", () => {
    fc.assert(
      fc.property(time, bytes(10), (now, random) => {
        const id = operationId(now, random);
        expect(id).toMatch(V7);
        expect(parseInt(id.replace("-", "").slice(0, 12), 16)).toBe(now);
      }),
    );
  });

  it("is ordered by time, for any random bytes", () => {
    fc.assert(
      fc.property(time, time, bytes(10), bytes(10), (a, b, one, other) => {
        fc.pre(a !== b);
        expect(operationId(a, one) < operationId(b, other)).toBe(a < b);
      }),
    );
  });
});

describe("uuidOf", () => {
  it("has the version and the variant of a UUIDv4, and is the same for the same bytes", () => {
    fc.assert(
      fc.property(bytes(16), (random) => {
        const id = uuidOf(random);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect([uuidOf(random), parseId(id)]).toEqual([id, id]);
      }),
    );
  });
});
