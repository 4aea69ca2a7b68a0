import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { addPerson } from "../support/access.ts";
import { browser, signIn } from "../support/console.ts";
import { loginCode } from "../support/logins.ts";
import { personSession } from "../support/person-session.ts";
import { admin, type Client, client, LOGIN, makeToken, makeVault, send } from "../support/service.ts";

/** The names of those who wrote in a vault, for sessions (contract 24.13). */

interface Writer {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly call: Client;
}

async function makeWriter(name: string, vault: string): Promise<Writer> {
  const { id, token } = await makeToken({ [vault]: "rw" }, { name });
  return { id, name, token, call: client(token) };
}

/** A vault with an Item that `first` has made and `second` has changed, and a session of a token that has only read. */
async function startTeam() {
  const vault = await makeVault();
  const [first, second] = [await makeWriter("first", vault), await makeWriter("second", vault)];
  const items = `/v1/vaults/${vault}/items`;
  const { id: item } = (await first.call("POST", items, { body: LOGIN })).body;
  await rename(second.call, `${items}/${item}`);
  const reader = await makeToken({ [vault]: "r" }, { name: "reader" });
  const session = browser(await signIn({ token: reader.token }));
  await session("GET", `${items}/${item}`);
  const actors = async (query = "", call = session) => (await call("GET", `/v1/vaults/${vault}/actors${query}`)).body;
  return { vault, items, item: item as string, first, second, reader, session, actors };
}

const rename = (call: Client, path: string) => call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
const shown = ({ id, name }: Writer) => ({ id, name });
const forget = (vault: string) => env.DB.prepare("DELETE FROM activity WHERE vault_id = ?").bind(vault).run();

let team: Awaited<ReturnType<typeof startTeam>>;
beforeAll(async () => {
  team = await startTeam();
});

describe("the actors of a vault", () => {
  it("are named to a session, the last writer first, without those who have only read", async () => {
    const { actors, first, second } = team;
    expect(await actors()).toEqual([shown(second), shown(first)]);
  });

  it("are those of no other vault", async () => {
    const { actors, session } = await startTeam();
    expect((await actors()).map(({ id }: Writer) => id)).not.toContain(team.first.id);
    expect((await session("GET", `/v1/vaults/${team.vault}/actors`)).status).toBe(403);
  });

  it("have the names of people and of the tokens of their logins without the email", async () => {
    const { vault, items, actors } = await startTeam();
    const person = await addPerson({ [vault]: "rw" });
    const session = browser(await personSession(env, person.email));
    await session("POST", items, { body: LOGIN });
    const login = (
      await send("POST", "/v1/login/token", { body: { code: await loginCode(session, { vaults: { [vault]: "rw" } }) } })
    ).body;
    const { body: item } = await client(login.token)("POST", items, { body: LOGIN });
    const name = person.email.split("@")[0];
    const answer = await actors();
    expect(answer.slice(0, 2)).toEqual([
      { id: item.lastEditedBy, name },
      { id: person.id, name },
    ]);
    expect(item.lastEditedBy).not.toBe(person.id);
    expect(JSON.stringify(answer)).not.toContain("@");
  });

  it("keep the name of a token that was revoked, and lack one whose record is gone or does not open", async () => {
    const { actors, first, second } = await startTeam();
    await admin("DELETE", `/v1/admin/tokens/${first.id}`);
    expect(await actors()).toEqual([shown(second), shown(first)]);
    await env.DB.prepare("UPDATE tokens SET sealed = 'x' WHERE id = ?").bind(second.id).run();
    expect(await actors()).toEqual([shown(first)]);
    await env.DB.prepare("DELETE FROM ended_tokens WHERE id = ?").bind(first.id).run();
    expect(await actors()).toEqual([]);
  });

  it("are for a token of some Items those who wrote these", async () => {
    const { vault, items, second, actors } = await startTeam();
    const { id } = (await second.call("POST", items, { body: LOGIN })).body;
    const narrow = await makeToken({ [vault]: { permissions: "r", items: [id] } });
    const session = browser(await signIn({ token: narrow.token }));
    expect(await actors("", session)).toEqual([shown(second)]);
    expect(await actors(`?item=${id}`, session)).toEqual([shown(second)]);
  });

  it("are refused to a token, which may read all the rest", async () => {
    const { status, headers, body } = await team.first.call("GET", `/v1/vaults/${team.vault}/actors`);
    const message = `the token may not see who wrote in vault ${team.vault}`;
    expect([status, headers.get("Item-Vault-Error"), body.message]).toEqual([403, "out_of_scope", message]);
    expect((await admin("GET", `/v1/vaults/${team.vault}/actors`)).status).toBe(401);
  });

  it("are refused to a session whose token has ended", async () => {
    const { session, reader, vault } = await startTeam();
    await admin("DELETE", `/v1/admin/tokens/${reader.id}`);
    expect((await session("GET", `/v1/vaults/${vault}/actors`)).status).toBe(401);
  });
});

describe("the actors of an Item", () => {
  it("are those who wrote its versions, also when the log has lost the writes", async () => {
    const { vault, items, item, actors, first, second } = await startTeam();
    await makeWriter("third", vault).then(({ call }) => call("POST", items, { body: LOGIN }));
    expect((await actors()).map(({ name }: Writer) => name)).toEqual(["third", "second", "first"]);
    await forget(vault);
    expect(await actors()).toEqual([]);
    expect(await actors(`?item=${item}`)).toEqual([shown(second), shown(first)]);
  });

  it("are a 404 for an Item that the session does not see, and a 400 for what is no id", async () => {
    const other = await startTeam();
    const statusOf = async (item: string, call: Client) =>
      (await call("GET", `/v1/vaults/${team.vault}/actors?item=${item}`)).status;
    const narrow = await makeToken({ [team.vault]: { permissions: "r", items: [crypto.randomUUID()] } });
    const outside = browser(await signIn({ token: narrow.token }));
    expect(await statusOf(other.item, team.session)).toBe(404);
    const { body } = await team.session("GET", `/v1/vaults/${team.vault}/actors?item=${other.item}`);
    expect(body.message).toBe(`item ${other.item} not found`);
    expect(await statusOf(team.item, outside)).toBe(404);
    expect(await statusOf("x", team.session)).toBe(400);
  });
});
