import { parseId } from "@item-vault/model/ids";
import { describe, expect, it } from "vitest";
import { admin, freshVault, login, makeItems, makeToken, sendRequest } from "../../sdk/support/vault.ts";
import { startInterceptor } from "../support/interceptor.ts";
import { copyStatus, PATIENT, type Served, startServe, untilHeld } from "../support/serve.ts";

/** How `serve` follows the service after a failure, and after changes of which no event tells. */

/** The titles of the list of Items of a vault, sorted, and whether the copy gave the list. */
async function listOf({ get }: Served, vault: string) {
  const { text, age } = await get(`/v1/vaults/${vault}/items`);
  return { titles: (JSON.parse(text) as { title: string }[]).map(({ title }) => title).toSorted(), isLocal: age !== undefined };
}

const rename = (vault: string, item: string, token: string, title: string) =>
  sendRequest("PATCH", `v1/vaults/${vault}/items/${item}`, token, [{ op: "replace", path: "/title", value: title }]);

const idsOf = async (...args: Parameters<typeof makeItems>) => (await makeItems(...args)).map((id) => parseId(id)!);

/** A process that reads a vault of Items for the first time, while the service fails to answer with one of them until `heal`. */
async function startReading(titles: readonly string[], failing: number) {
  const fresh = await freshVault();
  const ids = await idsOf(fresh, ...titles);
  let isFailing = true;
  const answer = (name: string) => (isFailing && name.endsWith(`/items/${ids[failing]}`) ? { hello: 1 } : undefined);
  const service = await startInterceptor({ answer });
  const served = await startServe({ token: fresh.token, host: service.url, filled: false });
  const countOf = (id: string) => service.requests.filter((name) => name.endsWith(`/items/${id}`)).length;
  const heal = () => {
    isFailing = false;
    return untilHeld(served.url);
  };
  return { fresh, ids, served, countOf, heal };
}

describe("while the service fails", () => {
  it("a pause ends early when it has answered a client", async () => {
    const fresh = await freshVault();
    const service = await startInterceptor();
    service.fail(503);
    const through = ["env", "NODE_OPTIONS=--import=data:text/javascript,Math.random=()=>99999"]; // pauses of hours
    const served = await startServe({ token: fresh.token, host: service.url, filled: false, through });
    await expect.poll(() => served.output.stderr, PATIENT).toContain("trying again");
    service.fail(undefined);
    expect((await served.get("/v1/vaults")).status).toBe(200);
    await untilHeld(served.url);
  });

  it("within the first reading of a vault, only the Items that are missing are asked for again", async () => {
    const titles = Array.from({ length: 12 }, (_, at) => `Item ${at}`);
    const { fresh, ids, served, countOf, heal } = await startReading(titles, 7);
    await expect.poll(() => countOf(ids[7]!), PATIENT).toBeGreaterThanOrEqual(4);
    await heal();
    expect(ids.filter((id) => id !== ids[7]).map(countOf)).toEqual(Array(11).fill(1));
    expect(await listOf(served, fresh.vault)).toEqual({ titles: titles.toSorted(), isLocal: true });
  });

  it("a write to an Item that was read already is in the copy when the reading ends", async () => {
    const { fresh, ids, served, countOf, heal } = await startReading(["First", "Last"], 1);
    await expect.poll(() => countOf(ids[0]!), PATIENT).toBeGreaterThan(0);
    await rename(fresh.vault, ids[0]!, fresh.token, "New");
    await heal();
    await expect.poll(() => listOf(served, fresh.vault), PATIENT).toEqual({ titles: ["Last", "New"], isLocal: true });
  });
});

async function runJob(body: object): Promise<void> {
  const { id } = await admin("POST", "jobs", body);
  const stateOf = async () => ((await admin("GET", `jobs/${id}`)) as unknown as { state: string }).state;
  await expect.poll(stateOf, PATIENT).toBe("done");
}

describe("a vault", () => {
  it("of which the token has some Items is held with these, and stays current behind writes to others", async () => {
    const fresh = await freshVault();
    const [own, other] = (await idsOf(fresh, "Own", "Other")) as [string, string];
    const { token } = await makeToken({ [fresh.canonical]: { permissions: "r", items: [own] } });
    const served = await startServe({ token });
    expect(await listOf(served, fresh.vault)).toEqual({ titles: ["Own"], isLocal: true });
    await rename(fresh.vault, other, fresh.token, "Other, changed");
    await rename(fresh.vault, own, fresh.token, "Own, changed");
    await expect.poll(() => listOf(served, fresh.vault), PATIENT).toEqual({ titles: ["Own, changed"], isLocal: true });
  });

  it("of which another token had more Items is read again, and shows only those of this one", async () => {
    const fresh = await freshVault();
    const [own] = (await idsOf(fresh, "Own", "Other")) as [string];
    const { token: all } = await makeToken({ [fresh.canonical]: "r" });
    const first = await startServe({ token: all });
    await first.stop("SIGTERM");
    const { token } = await makeToken({ [fresh.canonical]: { permissions: "r", items: [own] } });
    const second = await startServe({ token, folder: first.folder });
    await expect.poll(() => listOf(second, fresh.vault), PATIENT).toEqual({ titles: ["Own"], isLocal: true });
  });

  it("that the token lists and does not read stays with the service, and the others are held", async () => {
    const [read, listed] = [await freshVault(), await freshVault()];
    await makeItems(read, "Read");
    await makeItems(listed, "Listed");
    const { token } = await makeToken({ [read.canonical]: "r", [listed.canonical]: "l" });
    const served = await startServe({ token });
    const answerOf = async (path: string) => {
      const { status, text, age } = await served.get(`/v1/vaults${path}`);
      return [status, JSON.parse(text).length, typeof age];
    };
    expect(await answerOf(`/${read.vault}/items`)).toEqual([200, 1, "number"]);
    expect(await answerOf(`/${listed.vault}/items`)).toEqual([200, 1, "undefined"]);
    // As with --vault, the list of vaults has what the copy holds.
    expect(await answerOf("")).toEqual([200, 1, "number"]);
  });

  it.each([
    ["alone", false],
    ["beside another one", true],
  ])("that was deleted and restored %s is in the copy again", async (_, hasOther) => {
    const fresh = await freshVault();
    const [id] = await makeItems(fresh, "One");
    const other = hasOther ? { [(await freshVault()).canonical]: "r" as const } : {};
    const { token } = await makeToken({ [fresh.canonical]: "r", ...other });
    await runJob({ kind: "backup", vault: fresh.canonical });
    const served = await startServe({ token, args: ["--max-age", "3s"] });
    const names = async () => {
      const { text, age } = await served.get(`/v1/vaults`);
      return age === undefined ? undefined : (JSON.parse(text) as unknown[]).length;
    };
    const path = `/v1/vaults/${fresh.vault}/items/${id}`;
    await expect.poll(names, PATIENT).toBe(hasOther ? 2 : 1);
    await admin("DELETE", `vaults/${fresh.canonical}`);
    await expect.poll(names, PATIENT).toBe(hasOther ? 1 : undefined);
    expect((await served.get(path)).status).toBe(404);
    await runJob({ kind: "restore", vault: fresh.canonical });
    await expect.poll(async () => (await served.get(path)).age, PATIENT).toBeTypeOf("number");
    expect(await names()).toBe(hasOther ? 2 : 1);
  });
});

it("a vault of --vault that is deleted while the process runs does not end it", async () => {
  const [wanted, other] = [await freshVault(), await freshVault()];
  const { token } = await makeToken({ [wanted.canonical]: "r", [other.canonical]: "r" });
  await runJob({ kind: "backup", vault: other.canonical });
  await admin("DELETE", `vaults/${other.canonical}`);
  const service = await startInterceptor();
  const served = await startServe({ token, host: service.url, args: ["--max-age", "3s", "--vault", wanted.vault] });
  const lists = () => service.requests.filter((name) => name === "GET /v1/vaults").length;
  expect(lists()).toBe(1);
  await admin("DELETE", `vaults/${wanted.canonical}`);
  await expect.poll(() => copyStatus(served.url), PATIENT).toBe("ERROR"); // no vault is held
  await runJob({ kind: "restore", vault: other.canonical });
  await expect.poll(lists, PATIENT).toBe(2);
  expect((await served.get(`/v1/vaults/${other.vault}`)).status).toBe(200);
});

it("an Item that a later event of the same answer deletes is not asked for, and each other one is", async () => {
  const fresh = await freshVault();
  const names = ["Kept", "Of which a version is destroyed", "Deleted", "Destroyed", "Restored"];
  const ids = await idsOf(fresh, ...names);
  const [kept, thinned, deleted, destroyed, restored] = ids;
  let isHeld = false;
  const service = await startInterceptor({ before: (name) => !(isHeld && name.endsWith("/events")) });
  const { token } = await makeToken({ [fresh.canonical]: "rwd" });
  const served = await startServe({ token, host: service.url });
  isHeld = true;
  service.breakConnections();
  const before = service.requests.length;
  const items = `v1/vaults/${fresh.canonical}/items`;
  const send = (method: string, path: string, body?: object) => sendRequest(method, path, token, body);
  for (const id of ids) await rename(fresh.canonical, id, token, `New ${id}`);
  await send("DELETE", `${items}/${thinned}/versions/1`);
  for (const id of [deleted, destroyed, restored]) await send("DELETE", `${items}/${id}`);
  const { id: fleeting } = (await send("POST", items, login("Fleeting"))) as { id: string };
  await send("DELETE", `${items}/${fleeting}`);
  await send("DELETE", `v1/vaults/${fresh.canonical}/deleted-items/${destroyed}`);
  await send("POST", `v1/vaults/${fresh.canonical}/deleted-items/${restored}/restore`);
  isHeld = false;
  const titles = [kept, thinned, restored].map((id) => `New ${id}`).toSorted();
  await expect.poll(() => listOf(served, fresh.vault), PATIENT).toEqual({ titles, isLocal: true });
  const asked = service.requests.slice(before).filter((name) => name.startsWith(`GET /${items}/`));
  expect(new Set(asked.map((name) => name.split("/").at(-1)))).toEqual(new Set([kept, thinned, restored]));
});

describe("a list of the dialect `connect`, which leaves out an Item that does not open,", () => {
  it.each([
    ["with an event", true],
    ["without an event", false],
  ])("is the copy's again when the Item was repaired %s", async (_, hasEvent) => {
    const fresh = await freshVault();
    const [whole, broken] = (await makeItems(fresh, "Whole", "Broken")) as [string, string];
    const listed = (await fresh.op.listItems(fresh.vault)).filter(({ id }) => id === whole);
    const headers: Record<string, string> = { "Item-Vault-Broken": "1" };
    const isDamaged = () => Object.keys(headers).length > 0;
    const service = await startInterceptor({
      headers,
      damaged: (name) => isDamaged() && name.endsWith(`/items/${parseId(broken)}`),
      answer: (name) => (isDamaged() && name.endsWith("/items") ? listed : undefined),
    });
    const served = await startServe({ token: fresh.token, host: service.url, args: ["--max-age", hasEvent ? "1h" : "3s"] });
    const list = () => listOf(served, fresh.vault);
    expect(await list()).toEqual({ titles: ["Whole"], isLocal: false });
    delete headers["Item-Vault-Broken"];
    if (hasEvent) await rename(fresh.vault, broken, fresh.token, "Broken");
    await expect.poll(list, PATIENT).toEqual({ titles: ["Broken", "Whole"], isLocal: true });
  });
});

it("an Item with a File that does not open is answered without the File, and with it once that opens again", async () => {
  const fresh = await freshVault();
  const [id] = (await makeItems(fresh, "Item")) as [string];
  const path = `v1/vaults/${fresh.vault}/items/${id}`;
  const item = (await sendRequest("GET", path, fresh.token)) as object;
  let brokenFiles: string[] | undefined = [crypto.randomUUID()];
  const isDamaged = (name: string) =>
    brokenFiles !== undefined && [id, parseId(id)].some((form) => name.endsWith(`/items/${form}`));
  const service = await startInterceptor({
    answer: (name) => (isDamaged(name) ? { ...item, brokenFiles } : undefined),
    headers: (name): Record<string, string> => (isDamaged(name) ? { ETag: '"1-0123456789abcdef"' } : {}),
  });
  const served = await startServe({ token: fresh.token, host: service.url, args: ["--max-age", "3s"] });
  const read = async (of = path, headers = {}) => {
    const { status, text, age, headers: answered } = await served.get(`/${of}`, fresh.token, { headers });
    const counted = answered.get("Item-Vault-Broken");
    return { status, named: text.includes("brokenFiles"), counted, isLocal: age !== undefined };
  };
  const list = `v1/vaults/${fresh.vault}/items`;
  const isCurrent = { "If-None-Match": "*" };
  expect(await read()).toEqual({ status: 200, named: true, counted: "1", isLocal: true });
  expect(await read(path, isCurrent)).toMatchObject({ status: 200, counted: "1", isLocal: true });
  expect(await read(`${path}/files`)).toEqual({ status: 200, named: false, counted: "1", isLocal: true });
  expect(await read(list)).toEqual({ status: 200, named: false, counted: null, isLocal: true });
  brokenFiles = undefined;
  await expect.poll(() => read(), PATIENT).toEqual({ status: 200, named: false, counted: null, isLocal: true });
  expect(await read(path, isCurrent)).toMatchObject({ status: 304 });
});
