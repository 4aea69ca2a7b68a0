import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { addPerson, serveTeam } from "../support/access.ts";
import { admin, makeToken, makeVault } from "../support/service.ts";

/** People and what else is in the tables of tokens (contract 25.5 and 25.9). */

const signInAs = serveTeam();

it("DELETE of a person does not know the id of a token that has ended", async () => {
  const { id } = await makeToken({});
  await admin("DELETE", `/v1/admin/tokens/${id}`);
  expect((await admin("DELETE", `/v1/admin/people/${id}`)).status).toBe(404);
});

it("the row of a token for service bindings does not become that of a person by its column", async () => {
  const { id, email } = await addPerson();
  const binding = await makeToken({ [await makeVault()]: "r" }, { name: email, binding: true });
  const index = await env.DB.prepare("SELECT name_index FROM tokens WHERE id = ?").bind(id).first<string>("name_index");
  await env.DB.prepare("UPDATE tokens SET name_index = NULL WHERE id = ?").bind(id).run();
  await env.DB.prepare("UPDATE tokens SET name_index = ?2 WHERE id = ?1").bind(binding.id, index).run();
  expect((await signInAs(email)).status).toBe(403);
  expect((await admin("DELETE", `/v1/admin/tokens/${binding.id}`)).status).toBe(204);
});
