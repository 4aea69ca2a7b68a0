import { describe, expect, it } from "vitest";
import { admin } from "../support/service.ts";

/** Idempotency-Key where there is no vault yet that could remember it. */

const make = (name: string, key: string) =>
  admin("POST", "/v1/admin/vaults", { body: { name }, headers: { "Idempotency-Key": key } });
const count = async () => (await admin("GET", "/v1/admin/vaults")).body.length;

describe("POST /v1/admin/vaults with a key", () => {
  it("makes one vault, and has the first answer byte for byte each time", async () => {
    const key = crypto.randomUUID();
    const first = await make("Mine", key);
    const before = await count();
    expect([(await make("Mine", key)).text, await count()]).toEqual([first.text, before]);
    expect(first.body).toMatchObject({ name: "Mine", attributeVersion: 1 });
  });

  it("has the first answer still after the vault was renamed", async () => {
    const key = crypto.randomUUID();
    const first = await make("Mine", key);
    await admin("PATCH", `/v1/admin/vaults/${first.body.id}`, { body: { name: "Renamed" } });
    expect((await make("Mine", key)).text).toBe(first.text);
  });

  it("is a 409 with another body", async () => {
    const key = crypto.randomUUID();
    await make("Mine", key);
    const before = await count();
    expect([(await make("Other", key)).status, await count()]).toEqual([409, before]);
  });

  it("makes another vault with another key", async () => {
    const [one, other] = [await make("Mine", crypto.randomUUID()), await make("Mine", crypto.randomUUID())];
    expect(one.body.id).not.toBe(other.body.id);
  });

  it("has no second effect after the vault was deleted", async () => {
    const key = crypto.randomUUID();
    const { body } = await make("Mine", key);
    await admin("DELETE", `/v1/admin/vaults/${body.id}`);
    const before = await count();
    await make("Mine", key);
    expect(await count()).toBe(before);
  });
});
