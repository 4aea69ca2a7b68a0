import { describe, expect, it } from "vitest";
import { admin } from "../support/service.ts";

/** `Idempotency-Key` of writes to vaults (contract 10.8, 10.9, 10.13, 10.17). */

const postVault = (name: string, key: string) =>
  admin("POST", "/v1/admin/vaults", { body: { name }, headers: { "Idempotency-Key": key } });
const countVaults = async () => (await admin("GET", "/v1/admin/vaults")).body.length;

describe("POST /v1/admin/vaults with a key", () => {
  it("creates one vault and returns the first answer byte for byte each time", async () => {
    const key = crypto.randomUUID();
    const first = await postVault("Mine", key);
    const before = await countVaults();
    expect([(await postVault("Mine", key)).text, await countVaults()]).toEqual([first.text, before]);
    expect(first.body).toMatchObject({ name: "Mine", attributeVersion: 1 });
  });

  it("returns the vault as it is now after the vault was renamed", async () => {
    const key = crypto.randomUUID();
    const first = await postVault("Mine", key);
    const renamed = await admin("PATCH", `/v1/admin/vaults/${first.body.id}`, { body: { name: "Renamed" } });
    expect(renamed.body).toMatchObject({ id: first.body.id, name: "Renamed" });
    expect((await postVault("Mine", key)).text).toBe(renamed.text);
  });

  it("is a 409 when the body differs", async () => {
    const key = crypto.randomUUID();
    await postVault("Mine", key);
    const before = await countVaults();
    expect([(await postVault("Other", key)).status, await countVaults()]).toEqual([409, before]);
  });

  it("creates another vault when the key differs", async () => {
    const [first, second] = [await postVault("Mine", crypto.randomUUID()), await postVault("Mine", crypto.randomUUID())];
    expect(first.body.id).not.toBe(second.body.id);
  });

  it("creates no vault after the first one was deleted", async () => {
    const key = crypto.randomUUID();
    const { body } = await postVault("Mine", key);
    await admin("DELETE", `/v1/admin/vaults/${body.id}`);
    const before = await countVaults();
    await postVault("Mine", key);
    expect(await countVaults()).toBe(before);
  });
});

describe("PATCH of a vault with a key", () => {
  it("that is repeated after another PATCH has no second effect and returns the vault as it is now", async () => {
    const { body } = await postVault("Mine", crypto.randomUUID());
    const patch = (name: string, key: string) =>
      admin("PATCH", `/v1/admin/vaults/${body.id}`, { body: { name }, headers: { "Idempotency-Key": key } });
    expect((await patch("First", "one")).body.name).toBe("First");
    const second = await patch("Second", "two");
    expect((await patch("First", "one")).text).toBe(second.text);
    expect(second.body).toMatchObject({ name: "Second", attributeVersion: 3 });
  });
});
