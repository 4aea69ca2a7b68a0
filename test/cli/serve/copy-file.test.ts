import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createClient, ItemVaultError, type Token, type Vault } from "@item-vault/client";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createAttempts } from "../../../packages/cli/src/serve/attempts.ts";
import { decodeCopy, encodeCopy, loadCopy, writeCopy } from "../../../packages/cli/src/serve/copy-file.ts";
import {
  ageOf,
  type Copy,
  createCopy,
  createVault,
  holdItem,
  isComplete,
  momentNow,
  openItem,
  sealContent,
} from "../../../packages/cli/src/serve/copy.ts";
import { lockCopy } from "../../../packages/cli/src/serve/lock.ts";
import { createPace } from "../../../packages/cli/src/serve/pace.ts";
import { readAllItems } from "../../../packages/cli/src/serve/read-vault.ts";
import { createSaver } from "../../../packages/cli/src/serve/save.ts";
import { createSealer } from "../../../packages/cli/src/serve/seal.ts";
import { isExposed, loadSecretFile } from "../../../packages/cli/src/serve/secret-file.ts";
import { newFolder } from "../support/files.ts";
import { recordSleeps } from "../support/hurry.ts";

/** The local copy: its file, how a vault is read into it from a service that is a function, and the pauses of `serve`. */

const VAULT = "11111111-1111-4111-8111-111111111111";
const ITEM = "22222222-2222-4222-8222-222222222222";
const FILE = "33333333-3333-4333-8333-333333333333";
const HOST = "https://vault.example.com";
const sealer = createSealer("secret", HOST);
const SECRET_VALUE = "correct horse";
const MINUTE = 60_000;
const ROW = { id: VAULT, name: "Production" } as Vault;

afterEach(() => void vi.useRealTimers());

function copyOf(): Copy {
  const copy = createCopy(sealer);
  copy.token = { hash: "hash", info: { dialect: "uuid", expiresAt: "2030-01-01T00:00:00.000Z" } as Token };
  const vault = createVault(VAULT, ROW);
  vault.cursor = "7.x";
  vault.confirmed = momentNow();
  copy.vaults.set(VAULT, vault);
  const item = { id: ITEM, title: "Database", vault: { id: VAULT }, tags: [], fields: [{ value: SECRET_VALUE }], files: [] };
  const content = {
    etag: '"g"',
    disposition: "attachment",
    sealed: sealContent(copy, [VAULT, ITEM, FILE], '"g"', Buffer.from("bytes")),
  };
  holdItem(copy, vault, { id: ITEM, etag: '"1-0"', contents: new Map([[FILE, content]]) }, JSON.stringify(item));
  return copy;
}

const valueIn = (copy: Copy): string => {
  const vault = copy.vaults.get(VAULT)!;
  return openItem(copy, vault, vault.items.get(ITEM)!).fields[0]!.value;
};

function opens(bytes: Buffer, by = sealer): boolean {
  try {
    return decodeCopy(bytes, by).vaults.size > 0;
  } catch {
    return false;
  }
}

describe("the file of a copy", () => {
  it("has the Items, their Files and the positions, and no text of them", () => {
    const bytes = encodeCopy(copyOf())!;
    const decoded = decodeCopy(bytes, sealer);
    expect(valueIn(decoded)).toBe(SECRET_VALUE);
    expect(decoded.vaults.get(VAULT)).toMatchObject({ cursor: "7.x", row: { name: "Production" } });
    expect(decoded.vaults.get(VAULT)!.items.get(ITEM)!.contents.get(FILE)).toMatchObject({ etag: '"g"' });
    for (const text of [SECRET_VALUE, "Database", "Production", "bytes", VAULT]) expect(bytes.includes(text)).toBe(false);
  });

  it("does not open when any byte of it was changed, or it was cut off or continued", () => {
    const bytes = encodeCopy(copyOf())!;
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(opens(changed)).toBe(false);
    }
    for (let length = 0; length < bytes.length; length++) expect(opens(bytes.subarray(0, length))).toBe(false);
    expect(opens(Buffer.concat([bytes, Buffer.alloc(4)]))).toBe(false);
    expect(opens(bytes)).toBe(true);
  });

  it.each([
    ["of another key", createSealer("another", HOST)],
    ["of another host", createSealer("secret", "https://other.example.com")],
  ])("does not open when it is %s", (_, other) => {
    expect(opens(encodeCopy(copyOf())!, other)).toBe(false);
  });

  it.each<readonly [name: string, ages: readonly number[], clock: number, expected: readonly (number | undefined)[]]>([
    ["of the vaults", [0, 60, 300], 0, [0, 60, 300]],
    ["of the vaults, with what passed since", [0, 60], 60, [60, 120]],
    ["of the vaults, unless the clock was set back since by more than passed", [0], -1, [undefined]],
    ["of no vault when one of them is from the future", [60, 0], -1, [undefined, undefined]],
    ["of a vault, also when the clock was set back since by less than passed", [60], -1, [59]],
  ])("keeps the age %s", (_, ages, clock, expected) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const copy = copyOf();
    const moments = ages.map((age) => ({ wall: Date.now() - age * MINUTE, monotonic: performance.now() - age * MINUTE }));
    copy.vaults = new Map(moments.map((confirmed, at) => [String(at), { ...createVault(String(at), ROW), confirmed }]));
    const bytes = encodeCopy(copy)!;
    vi.setSystemTime(Date.now() + clock * MINUTE);
    const vaults = [...decodeCopy(bytes, sealer).vaults.values()];
    expect(vaults.map(({ confirmed }) => confirmed && Math.round(ageOf(confirmed) / MINUTE))).toEqual(expected);
  });

  it("is written again with the age of a copy after the clock was set back, and not while time passes", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const path = join(newFolder(), "copy");
    const copy = copyOf();
    const vault = copy.vaults.get(VAULT)!;
    const saver = createSaver(copy, { path, lagMax: MINUTE, say: () => undefined });
    copy.changes++;
    await saver.save();
    const written = statSync(path).ino;
    vi.setSystemTime(Date.now() + 10 * MINUTE);
    vault.confirmed = { ...vault.confirmed!, monotonic: performance.now() - 10 * MINUTE };
    await saver.save();
    expect(statSync(path).ino).toBe(written);
    vi.setSystemTime(Date.now() - 60 * MINUTE);
    await saver.save();
    const loaded = (await loadCopy(path, sealer)) as Copy;
    expect(Math.round(ageOf(loaded.vaults.get(VAULT)!.confirmed!) / MINUTE)).toBe(10);
  });

  it("is written with mode 0600, over an unfinished file of another mode", async () => {
    const path = join(newFolder(), "copy");
    writeFileSync(`${path}.new`, "IVCOPY01, left over");
    chmodSync(`${path}.new`, 0o644);
    await writeCopy(path, encodeCopy(copyOf())!);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(valueIn((await loadCopy(path, sealer)) as Copy)).toBe(SECRET_VALUE);
    expect(await loadCopy(`${path}.new`, sealer)).toBe("missing");
  });
});

describe("a file with a secret", () => {
  it("is made with mode 0600, and read again", async () => {
    const path = join(newFolder(), "folder", "key");
    const [made, read] = [await loadSecretFile(path), await loadSecretFile(path)];
    expect(made).toMatch(/^[\w-]{43}$/);
    expect(read).toBe(made);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toBe(`${made}\n`);
  });

  it("is refused when others may read it, or when it holds no secret", async () => {
    const path = join(newFolder(), "key");
    const secret = await loadSecretFile(path);
    chmodSync(path, 0o640);
    await expect(loadSecretFile(path)).rejects.toMatchObject({ exit: "usage", message: `Other users can read ${path}` });
    writeFileSync(path, secret.slice(0, 20));
    chmodSync(path, 0o600);
    await expect(loadSecretFile(path)).rejects.toMatchObject({ exit: "usage" });
    await expect(loadSecretFile(newFolder())).rejects.toMatchObject({ message: expect.stringContaining("it is a folder") });
  });

  it.each([
    [{ mode: 0o100600, uid: 1000 }, false],
    [{ mode: 0o100640, uid: 1000 }, true],
    [{ mode: 0o100440, uid: 0 }, false], // a credential of systemd, a Secret of Kubernetes
    [{ mode: 0o100460, uid: 0 }, true],
    [{ mode: 0o100444, uid: 0 }, true],
    [{ mode: 0o100440, uid: 1001 }, true],
    [{ mode: 0o100600, uid: 1001 }, true], // of another user, who can read it
    [{ mode: 0o100600, uid: 0 }, false],
  ])("with %o is refused for the user 1000: %s", (file, refused) => {
    expect(isExposed(file, 1000)).toBe(refused);
  });

  it("of another user than root is refused for root", () => {
    expect([0, 1000].map((uid) => isExposed({ mode: 0o100600, uid }, 0))).toEqual([false, true]);
  });
});

it("a stored copy that cannot be removed is named, and does not end the process", async () => {
  const path = join(newFolder(), "copy");
  mkdirSync(path); // what is no file
  const said: string[] = [];
  const saver = createSaver(copyOf(), { path, lagMax: 1000, say: (message) => void said.push(message) });
  await saver.remove();
  await saver.save();
  expect(said[0]).toContain(`: delete ${path}`);
  expect(saver.fault()).toBeDefined();
});

/** What other programs may have made in the place of a file of `serve`. */
const FOREIGN: Readonly<Record<string, (path: string) => void>> = {
  "a text": (path) => writeFileSync(path, "ROOT_KEYS=the only copy\n"),
  "a folder": (path) => mkdirSync(path),
  "a link to a copy": (path) => {
    writeFileSync(`${path}-elsewhere`, encodeCopy(copyOf())!);
    symlinkSync(`${path}-elsewhere`, path);
  },
  "a link to nothing": (path) => symlinkSync(`${path}-nowhere`, path),
  "a link to a device": (path) => symlinkSync("/dev/null", path),
  "a pipe": (path) => void execFileSync("mkfifo", [path]),
};

const kindOf = (path: string) => {
  const { ino, mode, size } = lstatSync(path);
  return { ino, mode, size };
};

describe.each(Object.entries(FOREIGN))("%s", (_, make) => {
  it.each([
    ["the copy", ""],
    ["the unfinished copy", ".new"],
    ["the lock", ".lock"],
  ])("in the place of %s is refused, and stays", async (_place, suffix) => {
    const copy = join(newFolder(), "copy");
    const path = copy + suffix;
    make(path);
    const before = kindOf(path);
    const started = suffix === ".lock" ? lockCopy(copy) : loadCopy(copy, sealer);
    await expect(started).rejects.toMatchObject({ exit: "usage", message: expect.stringContaining(`${path} is no `) });
    expect(kindOf(path)).toEqual(before);
  });

  it.each([
    ["the copy", ""],
    ["the unfinished copy", ".new"],
  ])("that comes to the place of %s while the process runs stays, and is named", async (_place, suffix) => {
    const path = join(newFolder(), "copy");
    const said: string[] = [];
    const copy = copyOf();
    const saver = createSaver(copy, { path, lagMax: MINUTE, say: (message) => void said.push(message) });
    make(path + suffix);
    const before = kindOf(path + suffix);
    copy.changes++;
    await saver.save();
    await saver.remove();
    expect(said).toEqual([
      "the copy cannot be stored (EEXIST), and goes on in memory",
      `the copy cannot be removed (EEXIST): delete ${path}`,
    ]);
    expect(kindOf(path + suffix)).toEqual(before);
  });
});

it("a socket of another program in the place of the lock goes on, and the copy counts as used", async () => {
  const copy = join(newFolder(), "copy");
  const program = createServer((socket) => void socket.end()).listen(`${copy}.lock`);
  onTestFinished(() => void program.close());
  await once(program, "listening");
  await expect(lockCopy(copy)).rejects.toMatchObject({ exit: "conflict" });
  const client = connect(`${copy}.lock`);
  await once(client, "connect");
  client.destroy();
});

const [WHOLE, BROKEN] = [ITEM, FILE];

const item = (id: string) => ({ id, title: "One", vault: { id: VAULT }, tags: [], fields: [], files: [] });
const json = (body: unknown, headers = {}, status = 200) => new Response(JSON.stringify(body), { status, headers });

/** Starts a copy of one vault that is read by `answer`, which answers the path of a request. */
function readingFrom(answer: (path: string) => Response) {
  const copy = createCopy(sealer);
  const vault = createVault(VAULT, ROW);
  vault.cursor = "7.x";
  const client = createClient({
    host: HOST,
    attempts: 1,
    fetch: async (input) => answer(new URL(input instanceof Request ? input.url : input).pathname),
  });
  const pace = createPace({ concurrent: 8, perSecond: 1e6 });
  const reading = { client, pace, copy, fileBytesMax: 1024, signal: new AbortController().signal };
  return { copy, vault, read: () => readAllItems(reading, vault) };
}

describe("an Item that the service cannot open", () => {
  it("keeps the lists of its vault with the service while that is read again, and when this fails", async () => {
    let isAway = false;
    const states: boolean[] = [];
    const { vault, read } = readingFrom((path) => {
      if (path.endsWith("/items")) return json([item(WHOLE), item(BROKEN)]);
      states.push(isComplete(vault));
      if (isAway) return json({}, { "Item-Vault-Error": "unavailable" }, 503);
      return path.endsWith(WHOLE) ? json(item(WHOLE), { ETag: '"1-0"' }) : json({}, { "Item-Vault-Error": "integrity" }, 500);
    });
    await read();
    expect(isComplete(vault)).toBe(false);
    states.length = 0;
    isAway = true;
    await expect(read()).rejects.toMatchObject({ status: 503 });
    expect([...states, isComplete(vault)]).not.toContain(true);
  });

  it("does not matter any more when the vault is without it", async () => {
    let listed = [WHOLE, BROKEN];
    const { vault, read } = readingFrom((path) => {
      if (path.endsWith("/items")) return json(listed.map(item));
      return path.endsWith(WHOLE) ? json(item(WHOLE), { ETag: '"1-0"' }) : json({}, { "Item-Vault-Error": "integrity" }, 500);
    });
    await read();
    listed = [WHOLE];
    await read();
    expect(isComplete(vault)).toBe(true);
  });
});

it("an Item with a File that does not open changes the copy only when it is another one", async () => {
  let answers = 0;
  let brokenFiles: string[] | undefined = ["44444444-4444-4444-8444-444444444444"];
  const { copy, read } = readingFrom((path) =>
    path.endsWith("/items") ? json([item(WHOLE)]) : json({ ...item(WHOLE), brokenFiles, at: ++answers }, { ETag: '"1-0"' }),
  );
  const changes = async () => {
    await read();
    return copy.changes;
  };
  const held = await changes();
  expect(await changes()).toBe(held);
  brokenFiles = undefined;
  expect(await changes()).toBeGreaterThan(held);
});

describe("the reads of all vaults", () => {
  it("are a few at once, in the order in which they came, and go on after one has failed", async () => {
    // Without a limit per second no read waits for a timer, so the first three begin before one of them can end.
    const pace = createPace({ concurrent: 3, perSecond: Infinity });
    let [running, most] = [0, 0];
    const begun: number[] = [];
    const read = (at: number) =>
      pace.inTurn(async () => {
        begun.push(at);
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        if (at === 4) throw new Error("away");
      });
    const ended = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => read(at)));
    expect(most).toBe(3);
    expect(begun).toEqual([...begun.keys()]);
    expect(ended.filter(({ status }) => status === "rejected")).toHaveLength(1);
  });

  it("leave requests to other clients of the token", async () => {
    const pace = createPace({ concurrent: 8, perSecond: 100 });
    const delays = recordSleeps();
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    await Promise.all(Array.from({ length: 21 }, () => pace.inTurn(async () => undefined)));
    expect(delays).toEqual(Array.from({ length: 20 }, (_, at) => 10 * (at + 1)));
  });
});

/** Returns the milliseconds of the pause after each of some failures in a row. */
async function pausesAfter(count: number, retryAfter?: number): Promise<number[]> {
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
  const attempts = createAttempts(() => undefined);
  const delays = recordSleeps();
  const pauses: number[] = [];
  for (let failures = 0; failures < count; failures++) {
    const error = new ItemVaultError("away", { kind: "unavailable", status: 503, retryAfter });
    await attempts.failed(error, failures, new AbortController().signal);
    pauses.push(delays.splice(0).reduce((sum, delay) => sum + delay, 0));
  }
  return pauses;
}

it("the pauses between attempts double while the service fails", async () => {
  const [first = 0, ...others] = await pausesAfter(5);
  expect(first).toBeGreaterThan(0);
  expect(others).toEqual([2, 4, 8, 16].map((times) => times * first));
});

it("an attempt is not made before the time that the service asks for", async () => {
  const [usual] = await pausesAfter(1);
  expect(await pausesAfter(1, 7)).toEqual([7_000 + usual!]);
});
