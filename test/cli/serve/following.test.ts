import { parseId } from "@item-vault/model/ids";
import { describe, expect, it } from "vitest";
import { admin, freshVault, login, makeItems, makeToken, sendRequest } from "../../sdk/support/vault.ts";
import { startInterceptor } from "../support/interceptor.ts";
import { copyStatus, get, PATIENT, startServe, untilHeld } from "../support/serve.ts";

/** How `serve` follows the service after a failure, and after changes of which no event tells. */

describe("while the service fails", () => {
  it("a pause ends early when it has answered a client", async () => {
    const fresh = await freshVault();
    const service = await startInterceptor();
    service.fail(503);
    const through = ["env", "NODE_OPTIONS=--import=data:text/javascript,Math.random=()=>99999"]; // pauses of hours
    const served = await startServe({ token: fresh.token, host: service.url, filled: false, through });
    await expect.poll(() => served.output.stderr, PATIENT).toContain("trying again");
    service.fail(undefined);
    expect((await get(`${served.url}/v1/vaults`, fresh.token)).status).toBe(200);
    await untilHeld(served.url);
  });

  it("within the first reading of a vault, only the Items that are missing are asked for again", async () => {
    const fresh = await freshVault();
    const ids = (await makeItems(fresh, ...Array.from({ length: 12 }, (_, at) => `Item ${at}`))).map((id) => parseId(id)!);
    let isFailing = true;
    const answer = (name: string) => (isFailing && name.endsWith(`/items/${ids[7]}`) ? { hello: 1 } : undefined);
    const service = await startInterceptor({ answer });
    const served = await startServe({ token: fresh.token, host: service.url, filled: false });
    const countOf = (id: string) => service.requests.filter((name) => name.endsWith(`/items/${id}`)).length;
    await expect.poll(() => countOf(ids[7]!), PATIENT).toBeGreaterThanOrEqual(4);
    isFailing = false;
    await untilHeld(served.url);
    expect(ids.filter((id) => id !== ids[7]).map(countOf)).toEqual(Array(11).fill(1));
    const list = await get(`${served.url}/v1/vaults/${fresh.vault}/items`, fresh.token);
    expect([JSON.parse(list.text).length, typeof list.age]).toEqual([12, "number"]);
  });

  it("a write to an Item that was read already is in the copy when the reading ends", async () => {
    const fresh = await freshVault();
    const [first, last] = (await makeItems(fresh, "First", "Last")).map((id) => parseId(id)!);
    let isFailing = true;
    const answer = (name: string) => (isFailing && name.endsWith(`/items/${last}`) ? { hello: 1 } : undefined);
    const service = await startInterceptor({ answer });
    const served = await startServe({ token: fresh.token, host: service.url, filled: false });
    await expect.poll(() => service.requests.some((name) => name.endsWith(`/items/${first}`)), PATIENT).toBe(true);
    const rename = [{ op: "replace", path: "/title", value: "New" }];
    await sendRequest("PATCH", `v1/vaults/${fresh.vault}/items/${first}`, fresh.token, rename);
    isFailing = false;
    await untilHeld(served.url);
    const path = `${served.url}/v1/vaults/${fresh.vault}/items/${first}`;
    await expect.poll(async () => (await get(path, fresh.token)).text, PATIENT).toContain('"New"');
  });
});

/** Starts a job of the admin, and waits for its end. */
async function runJob(body: object): Promise<void> {
  const { id } = await admin("POST", "jobs", body);
  const stateOf = async () => ((await admin("GET", `jobs/${id}`)) as unknown as { state: string }).state;
  await expect.poll(stateOf, PATIENT).toBe("done");
}

describe("a vault", () => {
  it("of which the token has some Items is held with these, and stays current behind writes to others", async () => {
    const fresh = await freshVault();
    const [own, other] = (await makeItems(fresh, "Own", "Other")).map((id) => parseId(id)!);
    const { token } = await makeToken({ [fresh.canonical]: { permissions: "r", items: [own!] } });
    const served = await startServe({ token });
    const titles = async () => {
      const { text, age } = await get(`${served.url}/v1/vaults/${fresh.vault}/items`, token);
      return [JSON.parse(text).map(({ title }: { title: string }) => title), typeof age];
    };
    expect(await titles()).toEqual([["Own"], "number"]);
    for (const [id, title] of [
      [other, "Other, changed"],
      [own, "Own, changed"],
    ])
      await sendRequest("PATCH", `v1/vaults/${fresh.vault}/items/${id}`, fresh.token, [
        { op: "replace", path: "/title", value: title },
      ]);
    await expect.poll(titles, PATIENT).toEqual([["Own, changed"], "number"]);
  });

  it("of which another token had more Items is read again, and shows only those of this one", async () => {
    const fresh = await freshVault();
    const [own] = await makeItems(fresh, "Own", "Other");
    const { token: all } = await makeToken({ [fresh.canonical]: "r" });
    const first = await startServe({ token: all });
    await first.stop("SIGTERM");
    const { token } = await makeToken({ [fresh.canonical]: { permissions: "r", items: [parseId(own!)!] } });
    const { url } = await startServe({ token, folder: first.folder });
    const list = async () => get(`${url}/v1/vaults/${fresh.vault}/items`, token);
    await expect.poll(async () => typeof (await list()).age, PATIENT).toBe("number");
    expect(JSON.parse((await list()).text).map(({ title }: { title: string }) => title)).toEqual(["Own"]);
  });

  it("that the token lists and does not read stays with the service, and the others are held", async () => {
    const [read, listed] = [await freshVault(), await freshVault()];
    await makeItems(read, "Read");
    await makeItems(listed, "Listed");
    const { token } = await makeToken({ [read.canonical]: "r", [listed.canonical]: "l" });
    const served = await startServe({ token });
    const answerOf = async (path: string) => {
      const { status, text, age } = await get(`${served.url}/v1/vaults${path}`, token);
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
      const { text, age } = await get(`${served.url}/v1/vaults`, token);
      return age === undefined ? undefined : (JSON.parse(text) as unknown[]).length;
    };
    const path = `${served.url}/v1/vaults/${fresh.vault}/items/${id}`;
    await expect.poll(names, PATIENT).toBe(hasOther ? 2 : 1);
    await admin("DELETE", `vaults/${fresh.canonical}`);
    await expect.poll(names, PATIENT).toBe(hasOther ? 1 : undefined);
    expect((await get(path, token)).status).toBe(404);
    await runJob({ kind: "restore", vault: fresh.canonical });
    await expect.poll(async () => (await get(path, token)).age, PATIENT).toBeTypeOf("number");
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
  expect((await get(`${served.url}/v1/vaults/${other.vault}`, token)).status).toBe(200);
});

it("an Item that a later event of the same answer deletes is not asked for, and each other one is", async () => {
  const fresh = await freshVault();
  const names = ["Kept", "Of which a version is destroyed", "Deleted", "Destroyed", "Restored"];
  const ids = (await makeItems(fresh, ...names)).map((id) => parseId(id)!);
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
  const rename = (id: string) => send("PATCH", `${items}/${id}`, [{ op: "replace", path: "/title", value: `New ${id}` }]);
  for (const id of ids) await rename(id);
  await send("DELETE", `${items}/${thinned}/versions/1`);
  for (const id of [deleted, destroyed, restored]) await send("DELETE", `${items}/${id}`);
  const { id: fleeting } = (await send("POST", items, login("Fleeting"))) as { id: string };
  await send("DELETE", `${items}/${fleeting}`);
  await send("DELETE", `v1/vaults/${fresh.canonical}/deleted-items/${destroyed}`);
  await send("POST", `v1/vaults/${fresh.canonical}/deleted-items/${restored}/restore`);
  isHeld = false;
  const titles = async () => {
    const { text, age } = await get(`${served.url}/${items}`, token);
    return age === undefined ? undefined : (JSON.parse(text) as { title: string }[]).map(({ title }) => title).toSorted();
  };
  await expect.poll(titles, PATIENT).toEqual([kept, thinned, restored].map((id) => `New ${id}`).toSorted());
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
    const list = async () => {
      const { text, age } = await get(`${served.url}/v1/vaults/${fresh.vault}/items`, fresh.token);
      return {
        titles: (JSON.parse(text) as { title: string }[]).map(({ title }) => title).toSorted(),
        isLocal: age !== undefined,
      };
    };
    expect(await list()).toEqual({ titles: ["Whole"], isLocal: false });
    delete headers["Item-Vault-Broken"];
    const rename = [{ op: "replace", path: "/title", value: "Broken" }];
    if (hasEvent) await sendRequest("PATCH", `v1/vaults/${fresh.vault}/items/${broken}`, fresh.token, rename);
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
    const { status, text, age, headers: answered } = await get(`${served.url}/${of}`, fresh.token, { headers });
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
