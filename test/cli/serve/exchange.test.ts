import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseId } from "@item-vault/model/ids";
import { describe, expect, it } from "vitest";
import { admin, freshVault, makeItems, makeToken, type Permission } from "../../sdk/support/vault.ts";
import { fileOf, newFolder } from "../support/files.ts";
import { ends, runHere } from "../support/here.ts";
import { startInterceptor } from "../support/interceptor.ts";
import { PATIENT, type Served, startServe } from "../support/serve.ts";
import { GRANTED, newJwt } from "../support/workload.ts";

/** `serve --exchange`: a proxy in front of the service grants one of its tokens after the other, each for some seconds. */

const EXCHANGE = "POST /v1/token-exchange";

/** A service that grants new tokens with these permissions in a vault. `set`: what it does with the next requests for one. */
async function startExchange(vault: string, seconds: number, permission: Permission = "r") {
  const tokens = await Promise.all(Array.from({ length: 8 }, () => makeToken({ [vault]: permission })));
  const granted: (typeof tokens)[number][] = [];
  let status: number | undefined;
  const service = await startInterceptor({
    refuse: (name) => (name === EXCHANGE ? status : undefined),
    answer(name) {
      if (name !== EXCHANGE) return undefined;
      granted.push(tokens[granted.length]!);
      return { ...GRANTED, access_token: granted.at(-1)!.token, expires_in: seconds };
    },
  });
  return { service, granted, set: (next: number | undefined) => void (status = next) };
}

const startPod = (host: string, more: Partial<Parameters<typeof startServe>[0]> = {}) =>
  startServe({ token: "", host, ...more, args: ["--exchange", "--token-file", fileOf(newJwt()), ...(more.args ?? [])] });

const tokensOf = (headers: readonly { readonly authorization?: string | undefined }[]): Set<string> =>
  new Set(headers.flatMap(({ authorization = "" }) => authorization.replace("Bearer ", "") || []));

/** Reads a list of Items again and again. Returns the statuses and ages that differ from 200 and a number. */
async function readsThatFail(served: Served, vault: string, isDone: () => boolean): Promise<unknown[]> {
  const failed: unknown[] = [];
  while (!isDone()) {
    const { status, age } = await served.get(`/v1/vaults/${vault}/items`);
    if (status !== 200 || age === undefined) failed.push([status, age]);
  }
  return failed;
}

describe("a token that is renewed", () => {
  it("continues with the copy: no read fails, and no Item is read again", async () => {
    const fresh = await freshVault();
    const ids = (await makeItems(fresh, "One", "Two")).map((id) => parseId(id)!);
    const { service, granted } = await startExchange(fresh.canonical, 2);
    const served = await startPod(service.url);
    const failed = await readsThatFail(served, fresh.vault, () => granted.length >= 4);
    expect(failed).toEqual([]);
    const countOf = (id: string) =>
      service.requests.filter((name) => name === `GET /v1/vaults/${fresh.canonical}/items/${id}`).length;
    expect(ids.map(countOf)).toEqual([1, 1]);
  });

  it("is that of requests which are passed on, once the service has confirmed it", async () => {
    const fresh = await freshVault();
    const { service, granted } = await startExchange(fresh.canonical, 2);
    const served = await startPod(service.url);
    await expect.poll(() => granted.length, PATIENT).toBeGreaterThanOrEqual(2);
    const [first, second] = granted.map(({ token }) => token);
    const activity = () => served.get(`/v1/activity`);
    await expect.poll(async () => (await activity(), tokensOf(service.headers).has(second!)), PATIENT).toBe(true);
    expect((await activity()).status).toBe(200);
    const ofNewest = () => served.get(`/v1/vaults`, granted.at(-1)!.token);
    await expect.poll(async () => (await ofNewest()).status, PATIENT).toBe(200);
    await expect.poll(async () => (await served.get("/v1/vaults", first)).status, PATIENT).toBe(401);
  });
});

describe("a renewal that fails", () => {
  it.each([503, 401])("with %i is tried again while the token works, and the copy is served", async (status) => {
    const fresh = await freshVault();
    const { service, granted, set } = await startExchange(fresh.canonical, 9);
    const served = await startPod(service.url);
    set(status);
    const count = () => service.requests.filter((name) => name === EXCHANGE).length;
    const failed = await readsThatFail(served, fresh.vault, () => count() >= (status === 503 ? 4 : 2));
    expect(failed).toEqual([]);
    await expect.poll(() => served.output.stderr.match(/could not be renewed/g)?.length, PATIENT).toBe(1);
    if (status === 401) return; // the next attempt is in a minute
    set(undefined);
    await expect.poll(() => granted.length, PATIENT).toBeGreaterThanOrEqual(2);
    await expect.poll(() => served.output.stderr, PATIENT).toContain("the token was renewed");
  });

  it("for want of the service leaves the copy when the token has ended, and goes on with the next one", async () => {
    const fresh = await freshVault();
    await makeItems(fresh, "One");
    const { service, granted, set } = await startExchange(fresh.canonical, 5); // less than the clocks may differ: it has ended
    const served = await startPod(service.url, { args: ["--max-age", "6s"] });
    set(503);
    await admin("DELETE", `tokens/${granted[0]!.id}`);
    const read = () => served.get(`/v1/vaults/${fresh.vault}/items`);
    await expect.poll(async () => (await served.get(`/v1/activity`)).status, PATIENT).toBe(401);
    await expect.poll(() => served.output.stderr, PATIENT).toContain("could not be renewed");
    expect(typeof (await read()).age).toBe("number");
    await expect.poll(async () => (await read()).age, PATIENT).toBeUndefined(); // beyond the age
    expect(served.output.stderr).not.toContain("emptied");
    set(undefined);
    await expect.poll(async () => typeof (await read()).age, PATIENT).toBe("number");
    expect(granted.length).toBeGreaterThanOrEqual(2);
  });

  it("because the workload is refused empties the copy when the token has ended", async () => {
    const fresh = await freshVault();
    const { service, granted, set } = await startExchange(fresh.canonical, 5);
    const served = await startPod(service.url, { args: ["--max-age", "6s"] });
    await expect.poll(() => existsSync(join(served.folder, "copy")), PATIENT).toBe(true);
    set(401);
    await expect.poll(() => served.output.stderr, PATIENT).toContain("could not be renewed");
    await admin("DELETE", `tokens/${granted[0]!.id}`);
    await expect.poll(() => served.output.stderr, PATIENT).toContain("the copy was emptied");
    await expect.poll(() => existsSync(join(served.folder, "copy")), PATIENT).toBe(false);
  });
});

it("a token that is revoked before its end empties the copy, and another one is asked for", async () => {
  const fresh = await freshVault();
  const { service, granted } = await startExchange(fresh.canonical, 900);
  const served = await startPod(service.url, { args: ["--max-age", "6s"] });
  await admin("DELETE", `tokens/${granted[0]!.id}`);
  await expect.poll(() => served.output.stderr, PATIENT).toContain("the copy was emptied");
  await expect.poll(async () => typeof (await served.get(`/v1/vaults`)).age, PATIENT).toBe("number");
  expect(granted.length).toBe(2);
});

it("a stored copy is continued by the token of the next process", async () => {
  const fresh = await freshVault();
  const [id] = (await makeItems(fresh, "One")).map((one) => parseId(one)!);
  const { service } = await startExchange(fresh.canonical, 900);
  const first = await startPod(service.url);
  await first.stop("SIGTERM");
  const second = await startPod(service.url, { folder: first.folder });
  expect(second.secret()).toBe(first.secret());
  const path = `/v1/vaults/${fresh.vault}/items`;
  await expect.poll(async () => typeof (await second.get(path)).age, PATIENT).toBe("number"); // its token is confirmed
  expect(service.requests.filter((name) => name.endsWith(`/items/${id}`)).length).toBe(1);
});

const run = (host: string, ...args: string[]) =>
  runHere(["serve", "--listen", "127.0.0.1:0", "--key-file", join(newFolder(), "key"), ...args], {
    env: { ITEM_VAULT_HOST: host, ITEM_VAULT_TIMEOUT: "1" },
  });

describe("the command ends", () => {
  const secret = ["--client-token-file", join(newFolder(), "client")];

  it.each([
    [3, 401, "refuses the token of this workload"],
    [6, 503, ""],
  ])("with code %i when the first exchange is answered with %i", async (code, status, message) => {
    const service = await startInterceptor({ refuse: () => status });
    const ran = await run(service.url, "--exchange", ...secret, "--token-file", fileOf(newJwt()));
    expect(ran).toMatchObject(ends(code, message));
  });

  it.each([
    ["needs --client-token-file", ["--exchange"]],
    ["--rule needs --exchange", ["--rule", "a", ...secret]],
    ["No token of a workload was found", ["--exchange", ...secret]],
  ])("with code 2 and the words %s", async (message, args) => {
    expect(await run("http://127.0.0.1:1", ...args)).toMatchObject(ends(2, message));
  });
});
