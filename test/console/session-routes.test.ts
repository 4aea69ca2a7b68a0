import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import { ask, prepareTarget, startWorld, type World } from "../openapi/support/targets.ts";
import { CONSOLE, COOKIE, signIn } from "../support/console.ts";

/** Sessions on every route: what signed in opens its own routes, and no others (contract 24.4). */

let world: World;
/** The cookies of a session of the admin alone, and of a token with every permission in the vault of the world. */
let cookies: { readonly admin: string; readonly token: string };

beforeAll(async () => {
  world = await startWorld();
  cookies = { admin: await signIn({ token: env.ADMIN_TOKEN }), token: await signIn({ token: world.token }) };
});

const OTHERS = [
  { by: "token", session: "admin", name: "ADMIN_TOKEN signed in" },
  { by: "admin", session: "token", name: "a token signed in" },
] as const;

describe.each(OTHERS)("a session that $name", ({ by, session }) => {
  const rows = ROWS.filter(({ access }) => access.by === by).map((row, index) => [row.operationId, row, index] as const);

  it.each(rows)("does not open %s", async (_, row, index) => {
    const target = await prepareTarget(world, row);
    // An address of its own, because refusals are counted by address.
    const address = { "CF-Connecting-IP": `2001:db8:${index}::1` };
    const headers = { ...CONSOLE, ...address, Cookie: `${COOKIE}=${cookies[session]}` };
    expect((await ask(row, target, undefined, { headers })).status).toBe(401);
    expect((await ask(row, target, by === "admin" ? env.ADMIN_TOKEN : world.token, { headers: address })).status).toBeLessThan(
      300,
    );
  });
});
