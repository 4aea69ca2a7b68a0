import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { rebindCoordinator } from "../support/bindings.ts";
import { browser, signIn } from "../support/console.ts";
import { advanceClock } from "../support/faults.ts";
import { lengthOf, objectsOf, pattern } from "../support/files.ts";
import { createReplicatedDatabase, type ReplicatedDatabase } from "../support/replica.ts";
import { renewKey } from "../support/sealed-columns.ts";
import { admin, type Client, client, LOGIN, makeToken, makeVault, type Reply } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Reads of a token with `stale`, which a replica may answer (contract 8.12 to 8.14). */

const STALE = 60; // seconds

let replicated: ReplicatedDatabase;
let near: Client;
let vault: string;
let item: string;
let token: { readonly id: string; readonly token: string };

/** A client whose requests have the database with the replica. */
const through =
  (call: Client): Client =>
  (method, path, options = {}) =>
    call(method, path, { ...options, env: { DB: replicated.db, ...options.env } });

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  replicated = await createReplicatedDatabase();
  vault = await makeVault();
  await rebindCoordinator(vault, { DB: replicated.db });
  token = await makeToken({ [vault]: "rw" }, { stale: STALE });
  near = through(client(token.token));
  item = `/v1/vaults/${vault}/items/${(await near("POST", `/v1/vaults/${vault}/items`, { body: LOGIN })).body.id}`;
  await replicated.replicate();
  return async () => {
    vi.useRealTimers();
    await rebindCoordinator(vault, {});
  };
});

const advance = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

const rename = (title: string, call = near): Promise<Reply> =>
  call("PATCH", item, { body: [{ op: "replace", path: "/title", value: title }] });

/** What a read shows, and where it was answered. */
const shown = ({ status, body, headers }: Reply) => [
  status,
  body.title,
  headers.get("Item-Vault-Served-By"),
  headers.get("Item-Vault-Age"),
];

describe("a read by a session", () => {
  it("is answered by the primary, although its token has `stale`: who has signed out reads nothing any more", async () => {
    const cookie = await signIn({ token: token.token });
    await replicated.replicate();
    const asked = through(browser(cookie));
    expect(shown(await near("GET", item)).slice(0, 3)).toEqual([200, "Login", "replica"]);
    const { replica } = replicated.calls;
    for (const path of [item, `/v1/vaults/${vault}/items`, `/v1/vaults/${vault}`, "/v1/vaults", "/v1/token"]) {
      const { status, headers } = await asked("GET", path);
      expect([path, status, headers.get("Item-Vault-Served-By")]).toEqual([path, 200, null]);
    }
    await browser(cookie)("DELETE", "/console/session");
    expect((await asked("GET", item)).status).toBe(401);
    expect(replicated.calls.replica).toBe(replica);
  });
});

describe("a read of a token with `stale`", () => {
  it("is answered by the replica after a write through this isolate, as old as it may be", async () => {
    expect(shown(await near("GET", item))).toEqual([200, "Login", "replica", "0"]);
    const other = through(client((await makeToken({ [vault]: "rw" })).token));
    advance(1);
    await rename("New", other);
    advance(20_000);
    expect(shown(await near("GET", item))).toEqual([200, "Login", "replica", "21"]);
    // The oldest state that is allowed is asked for, so that a replica which is behind may answer.
    advance(38_000);
    expect(shown(await near("GET", item)).slice(1)).toEqual(["Login", "replica", "59"]);
  });

  it("has the age of a later state that the replica has reached", async () => {
    await near("GET", item);
    advance(20_000);
    await rename("New");
    await replicated.replicate();
    advance(1_000);
    expect(shown(await near("GET", item))).toEqual([200, "New", "replica", "1"]);
  });

  it.each([
    ["was ahead", 3_600_000],
    ["went back", -3_600_000],
  ])("is never older than `stale` after a clock %s", async (_, jump) => {
    const now = Date.now();
    vi.setSystemTime(now + Math.max(jump, 0));
    await near("GET", item);
    vi.setSystemTime(now + Math.min(jump, 0));
    await near("GET", item);
    await admin("DELETE", `/v1/admin/tokens/${token.id}`);
    for (const later of [STALE * 1000 + 1, Math.abs(jump) + 1000]) {
      vi.setSystemTime(now + Math.min(jump, 0) + later);
      expect((await near("GET", item)).status).toBe(401);
    }
  });

  it("of several calls is as old as the oldest of them", async () => {
    await near("POST", `${item}/files?name=f.txt`, { body: "content" });
    await replicated.replicate();
    await near("GET", item);
    advance(20_000);
    await rename("New");
    // The replica reaches the write between the call that finds the Item by its title and the one that reads its File.
    const { replica } = replicated.calls;
    replicated.beforeReplica = async () => void (replicated.calls.replica > replica && (await replicated.replicate()));
    const reply = await near("POST", "/v1/resolve", { body: { references: [`op://${vault}/Login/f.txt`] } });
    expect([reply.status, replicated.calls.replica - replica > 1]).toEqual([200, true]);
    expect(shown(reply).slice(2)).toEqual(["replica", "20"]);
  });

  it("does not trust a state for which the isolate asked before its clock went back", async () => {
    const bookmark = (await rename("Earlier")).headers.get("Item-Vault-Bookmark")!;
    const later = async (): Promise<void> => {
      replicated.beforePrimary = async () => undefined;
      advance(-5_000);
      await near("GET", item); // which notices it
      advance(6_000);
    };
    advance(10_000);
    replicated.beforePrimary = later;
    await near("GET", item, { headers: { "Item-Vault-Bookmark": bookmark } });
    await replicated.replicate();
    await rename("New", client((await makeToken({ [vault]: "rw" })).token));
    // 60 seconds after the time that the clock had at the start of the call, and 65 after the call.
    advance(STALE * 1_000 - 1_000);
    expect(shown(await near("GET", item))[2]).toBe("primary");
  });

  it("has no smaller age because the clock goes back during the request", async () => {
    await near("GET", item);
    advance(20_000);
    replicated.beforeReplica = async () => void advance(-3_600_000);
    expect(shown(await near("GET", item)).slice(2)).toEqual(["replica", "20"]);
  });

  it("is answered by the primary when what the isolate knows is older than `stale`, or of a clock that went back", async () => {
    await near("GET", item);
    await rename("New", client((await makeToken({ [vault]: "rw" })).token));
    const now = Date.now();
    vi.setSystemTime(now + (STALE + 1) * 1000);
    expect(shown(await near("GET", item))).toEqual([200, "New", "primary", "0"]);
    vi.setSystemTime(now - 60_000);
    expect(shown(await near("GET", item)).slice(2)).toEqual(["primary", "0"]);
  });

  it("does not wait for a primary that gives no answer", async () => {
    await near("GET", item);
    replicated.setStalled(true);
    expect(shown(await near("GET", item)).slice(0, 3)).toEqual([200, "Login", "replica"]);
  });

  it("asks the primary for its state, after the answer, when what the isolate knows is older than half of `stale`", async () => {
    await near("GET", item);
    const { primary } = replicated.calls;
    vi.setSystemTime(Date.now() + (STALE / 2 + 1) * 1000);
    expect(shown(await near("GET", item)).slice(2)).toEqual(["replica", "31"]);
    // Which lets the time go on.
    await vi.waitFor(async () => {
      expect(shown(await near("GET", item)).slice(2)).toEqual(["replica", expect.toBeOneOf(["0", "1"])]);
    }, UNDER_LOAD);
    expect(replicated.calls.primary).toBe(primary + 1);
  });

  it("shows no earlier state than the bookmarks that it sends, which takes the primary when the replica does not have it", async () => {
    const written = await rename("New");
    const bookmark = written.headers.get("Item-Vault-Bookmark")!;
    const reply = await near("GET", item, { headers: { "Item-Vault-Bookmark": bookmark } });
    expect(shown(reply).slice(0, 3)).toEqual([200, "New", "primary"]);
    await replicated.replicate();
    const later = await near("GET", item, { headers: { "Item-Vault-Bookmark": `${bookmark}, ${bookmark}` } });
    expect(shown(later).slice(0, 3)).toEqual([200, "New", "replica"]);
  });

  it("is refused with a bookmark that the service did not give, and with more than 8", async () => {
    const { headers } = await near("GET", item);
    const bookmark = headers.get("Item-Vault-Bookmark")!;
    const altered = `${bookmark.slice(0, -4)}AAA=`;
    const values = [
      "x",
      "k1.",
      "k1.2026-11-26.AAAA",
      altered,
      bookmark.replace(/\d\d(?=\.[^.]+$)/, "99"),
      bookmark.replace(/\./, ".A"),
    ];
    for (const value of [...values, Array(9).fill(bookmark).join()])
      expect(await near("GET", item, { headers: { "Item-Vault-Bookmark": value } })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("Item-Vault-Bookmark") },
      });
  });

  it("is answered by the primary with a bookmark that is sealed under a root key which the service does not have", async () => {
    const { headers } = await near("GET", item);
    const bookmark = headers.get("Item-Vault-Bookmark")!.replace(/^\w+/, "removed");
    expect(shown(await near("GET", item, { headers: { "Item-Vault-Bookmark": bookmark } }))[2]).toBe("primary");
  });

  it("is refused after a revocation at most `stale` seconds later (contract 8.7)", async () => {
    await near("GET", item);
    await admin("DELETE", `/v1/admin/tokens/${token.id}`);
    expect((await near("GET", item)).status).toBe(200);
    vi.setSystemTime(Date.now() + (STALE + 1) * 1000);
    expect((await near("GET", item)).status).toBe(401);
  });

  it("accepts a token at once that was just issued, although the replica does not know it", async () => {
    await near("GET", item);
    const { token: issued } = await makeToken({ [vault]: "r" }, { stale: STALE });
    const call = through(client(issued));
    expect(shown(await call("GET", item)).slice(0, 3)).toEqual([200, "Login", "primary"]);
  });

  it("counts once for each reference in the rate limit, also when the replica does not know its token", async () => {
    await near("GET", item);
    const { token: issued } = await makeToken({ [vault]: "r" }, { stale: STALE });
    let counted = 0;
    const counting: RateLimit = { limit: async () => ({ success: ++counted > 0 }) };
    const references = Array.from({ length: 40 }, () => item.replace(/.*vaults\/(.*)\/items\/(.*)/, "op://$1/$2/username"));
    const call = through(client(issued));
    expect((await call("POST", "/v1/resolve", { body: { references }, env: { TOKEN_RATE: counting } })).status).toBe(200);
    // The limiter is asked for each 50 requests.
    expect(counted).toBe(0);
  });

  it("of a content that is gone is a 404, although the replica still has the row of the File", async () => {
    const body = pattern(10);
    const { id } = (await near("POST", `${item}/files?name=f`, { body, headers: lengthOf(body) })).body;
    await replicated.replicate();
    await near("DELETE", `${item}/files/${id}`);
    for (const key of await objectsOf(vault)) await env.FILES.delete(key);
    const before = { ...replicated.calls };
    expect((await near("GET", `${item}/files/${id}/content`)).status).toBe(404);
    expect(replicated.calls.replica).toBe(before.replica + 1);
    const references = [item.replace(/.*vaults\/(.*)\/items\/(.*)/, `op://$1/$2/${id}`)];
    expect((await near("POST", "/v1/resolve", { body: { references } })).body.values).toMatchObject([{ status: 404 }]);
  });

  it("costs one D1 call", async () => {
    await near("GET", item);
    const before = { ...replicated.calls };
    await near("GET", item);
    expect(replicated.calls).toEqual({ primary: before.primary, replica: before.replica + 1 });
  });
});

/** Does something before the second call of the replica. */
function beforeSecondCall(step: () => Promise<unknown>): void {
  const { replica } = replicated.calls;
  replicated.beforeReplica = async () => {
    if (replicated.calls.replica === replica + 1) await step();
  };
}

describe("a near read of several calls, between which the vault gets a new key and the Item is written", () => {
  const TITLE = [{ op: "replace", path: "/title", value: "Login" }];
  const renewAndWrite = async () => {
    await renewKey(vault);
    await near("PATCH", item, { body: TITLE });
    await replicated.replicate();
  };

  it("resolves a reference by title", async () => {
    await near("PATCH", item, { body: [{ op: "add", path: "/fields/note", value: { label: "note", value: "text" } }] });
    await near("GET", item);
    await replicated.replicate();
    advanceClock(6 * 60_000); // the keys are not cached any more
    beforeSecondCall(renewAndWrite);
    const reply = await near("POST", "/v1/resolve", { body: { references: [`op://${vault}/Login/note`] } });
    expect(reply.body.values).toEqual([{ reference: `op://${vault}/Login/note`, value: "text" }]);
  });

  it("lists the Item by its title, and no other one", async () => {
    await near("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, title: "Another" } });
    await replicated.replicate();
    advanceClock(6 * 60_000);
    beforeSecondCall(renewAndWrite);
    const reply = await near("GET", `/v1/vaults/${vault}/items?filter=title eq "Login"`);
    expect([reply.status, reply.body.map(({ title }: { title: string }) => title)]).toEqual([200, ["Login"]]);
  });
});

describe("what no replica answers", () => {
  it("a read of a token without `stale`, whatever bookmark it sends", async () => {
    const call = through(client((await makeToken({ [vault]: "rw" })).token));
    await rename("New");
    const reply = await call("GET", item, { headers: { "Item-Vault-Bookmark": "x" } });
    expect(shown(reply)).toEqual([200, "New", null, null]);
  });

  it("the events of a vault", async () => {
    await near("GET", item);
    const { replica } = replicated.calls;
    expect((await near("GET", `/v1/vaults/${vault}/events`)).headers.get("Item-Vault-Served-By")).toBeNull();
    expect(replicated.calls.replica).toBe(replica);
  });

  it("a write, which carries the state that has it", async () => {
    const { replica } = replicated.calls;
    const written = await rename("New");
    expect([written.status, written.headers.get("Item-Vault-Served-By")]).toEqual([200, null]);
    expect(written.headers.get("Item-Vault-Bookmark")).toMatch(/^k1\.\d{4}-\d\d-\d\d\.[A-Za-z0-9+/=]+$/);
    expect(replicated.calls.replica).toBe(replica);
  });
});

/** Contract 13.14. */
describe("the attribute `stale` of a token", () => {
  it("is shown by every answer about the token", async () => {
    const own = (await near("GET", "/v1/token")).body;
    const listed = (await admin("GET", "/v1/admin/tokens")).body.find(({ id }: { id: string }) => id === token.id);
    expect([own.stale, listed.stale, (await admin("GET", `/v1/admin/tokens/${token.id}`)).body.stale]).toEqual([60, 60, 60]);
  });
});
