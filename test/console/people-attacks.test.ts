import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openToken, sealToken, type TokenRow } from "../../src/store/vaults/token-rows.ts";
import { addPerson, serveTeam } from "../support/access.ts";
import { keyringOf, newStages, rewrapAll } from "../support/root-keys.ts";
import { admin, makeToken, makeVault } from "../support/service.ts";

/** People and what else is in the tables of tokens (contract 25.5 and 25.9). */

const signInAs = serveTeam();

it("DELETE of a person does not know the id of a token that has ended", async () => {
  const { id } = await makeToken({});
  await admin("DELETE", `/v1/admin/tokens/${id}`);
  expect((await admin("DELETE", `/v1/admin/people/${id}`)).status).toBe(404);
});

/** Seals the row of a person as a rewrap by release 0.2.0 does, which knows neither of the two claims of people. */
async function sealAsBefore(id: string): Promise<void> {
  const keyring = await keyringOf(env);
  const row = (await env.DB.prepare("SELECT * FROM tokens WHERE id = ?").bind(id).first<TokenRow>())!;
  const opened = await openToken(keyring, row);
  if (!opened.ok) throw new Error(opened.failure.kind);
  const sealed = await sealToken(keyring.active, { ...opened.value, person: undefined, since: undefined });
  await env.DB.prepare("UPDATE tokens SET sealed = ?2 WHERE id = ?1").bind(id, sealed).run();
}

describe("a person whose row was rewrapped by release 0.2.0", () => {
  it("is a person still, before and after the next rewrap and change", async () => {
    const vault = await makeVault();
    const { id, email } = await addPerson({ [vault]: "r" });
    await sealAsBefore(id);
    expect((await signInAs(email)).body.person).toEqual({ id, email });
    const stages = await newStages();
    expect((await rewrapAll(stages.active)).failed).toBe(0);
    const listed = await admin("GET", `/v1/admin/people/${id}`, { env: stages.active });
    expect([listed.status, listed.body.email]).toEqual([200, email]);
    expect((await signInAs(email, stages.active)).body.person).toEqual({ id, email });
    await admin("PATCH", `/v1/admin/people/${id}`, { body: { vaults: { [vault]: "r" } }, env: stages.active });
    const { status, body } = await signInAs(email, stages.active);
    expect([status, body.person]).toEqual([200, { id, email }]);
  });
});

it("the row of a token for service bindings does not become that of a person by its column", async () => {
  const { id, email } = await addPerson();
  const binding = await makeToken({ [await makeVault()]: "r" }, { name: email, binding: true });
  const index = await env.DB.prepare("SELECT person FROM tokens WHERE id = ?").bind(id).first<string>("person");
  await env.DB.prepare("UPDATE tokens SET person = NULL WHERE id = ?").bind(id).run();
  await env.DB.prepare("UPDATE tokens SET person = ?2 WHERE id = ?1").bind(binding.id, index).run();
  expect((await signInAs(email)).status).toBe(403);
  expect((await admin("DELETE", `/v1/admin/tokens/${binding.id}`)).status).toBe(204);
});
