import { OPERATIONS } from "../../../src/api/operations.ts";
import { KEYS_MAX } from "../../../src/crypto/key-list.ts";
import { NOWHERE } from "../../../src/crypto/seal.ts";
import { verifyToken } from "../../../src/crypto/token.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import { openStore } from "../../../src/store/d1/database.ts";
import { insertSession } from "../../../src/store/tokens/sessions.ts";
import { personSession } from "../person-session.ts";
import { seedFiles } from "../seed-files.ts";
import { seedPeople } from "../seed-people.ts";
import { login, seedItems } from "../seed.ts";
import { formOf } from "../workload-tokens.ts";
import { largestIssuer } from "./workloads.ts";
import { emptyItem, largeItem, manyFields, manyOperations, times } from "./bodies.ts";
import {
  ADMIN_TOKENS,
  ADMIN_VAULTS,
  fillLogs,
  largeVault,
  ownVault,
  manyVaults,
  shareIn,
  tokenOfFullLogs,
  tokenOfManyVaults,
  tokenOfShortSegments,
  vaultWithContents,
  vaultWithDeleted,
  vaultWithDeletedFiles,
  vaultWithEndedFiles,
  vaultWithEvents,
  vaultWithFiles,
  vaultWithItem,
  vaultWithVersions,
  type World,
} from "./world.ts";

/** The worst legal requests of every endpoint: those that cost the service most. docs/limits.md shows what they cost. */

export interface Sent {
  readonly path: string;
  /** Absent: no Authorization header. */
  readonly token?: string | undefined;
  readonly headers?: Record<string, string> | undefined;
  /** A text or bytes as they are, or what is sent as JSON. */
  readonly body?: Uint8Array | object | string | undefined;
}

/** Why a list reads every row: it is sent while it is read. */
export const STREAMED = "streamed";

export interface WorstRequest {
  /** Method and path, as in the table of routes. */
  readonly endpoint: string;
  /** What makes it expensive. */
  readonly why: string;
  /** Why the rows that it reads in D1 are not bounded. Without `STREAMED`, the state of the tests is so small that the bound holds. */
  readonly reads?: string;
  /** Why it stores more than 4 × its body and 4 KiB. */
  readonly stores?: string;
  /** Creates the state. Out: the request. */
  readonly prepare: (world: World) => Promise<Sent>;
}

const KEY = { "Idempotency-Key": "worst" };
const filter = (text: string) => `filter=${encodeURIComponent(text)}`;
const ITEMS = "/v1/vaults/:vault/items";
const ITEM = `${ITEMS}/:item`;
const FILES = `${ITEM}/files`;

/** A vault with as many Items as the state of this world has at most. */
const largestVault = (world: World) => largeVault(world);

const reads: readonly WorstRequest[] = [
  {
    endpoint: `GET ${ITEMS}`,
    why: "a whole large vault",
    reads: STREAMED,
    prepare: async (world) => {
      const { items, token } = await shareIn(world, largestVault);
      return { path: items, token };
    },
  },
  {
    endpoint: `GET ${ITEMS}`,
    why: "a page with a filter that no Item matches",
    prepare: async (world) => {
      const { items, token } = await shareIn(world, largestVault);
      return { path: `${items}?limit=1000&${filter('title co "nothing"')}`, token };
    },
  },
  {
    endpoint: `GET ${ITEM}`,
    why: "an Item of 512 KiB",
    prepare: async (world) => vaultWithItem(world, largeItem()),
  },
  {
    endpoint: `GET ${ITEM}`,
    why: "an Item with 1,000 Files",
    prepare: (world) => shareIn(world, vaultWithFiles),
  },
  {
    endpoint: `GET ${FILES}`,
    why: "contents of 1 MiB together",
    prepare: async (world) => {
      const { path, token } = await vaultWithContents(
        world,
        times(16, () => LIMITS.inlined / 16),
      );
      return { path: `${path}/files?inline_files=true`, token };
    },
  },
  {
    endpoint: `GET ${FILES}`,
    why: "1,000 Files",
    prepare: async (world) => {
      const { path, token } = await shareIn(world, vaultWithFiles);
      return { path: `${path}/files`, token };
    },
  },
  {
    endpoint: `GET ${FILES}/:file`,
    why: "a content of 100 KiB",
    prepare: async (world) => {
      const { file, token } = await vaultWithContents(world, [100 * 1024]);
      return { path: `${file}?inline_files=true`, token };
    },
  },
  {
    endpoint: `GET ${FILES}/:file/content`,
    why: "the largest content",
    prepare: async (world) => {
      const { file, token } = await vaultWithContents(world, [world.sizes.content]);
      return { path: `${file}/content`, token };
    },
  },
  {
    endpoint: "GET /v1/vaults",
    why: "a token of 100 vaults",
    prepare: async (world) => ({ path: "/v1/vaults", token: (await shareIn(world, tokenOfManyVaults)).token }),
  },
  {
    endpoint: "GET /v1/token",
    why: "a token of 100 vaults",
    prepare: async (world) => ({ path: "/v1/token", token: (await shareIn(world, wideToken)).token }),
  },
  {
    endpoint: "GET /v1/vaults/:vault/events",
    why: "1,000 events",
    prepare: async (world) => {
      const { vault, token } = await vaultWithEvents(world);
      return { path: `/v1/vaults/${vault}/events?limit=1000`, token };
    },
  },
  {
    endpoint: "GET /v1/events",
    why: "the oldest events of 100 vaults",
    prepare: async (world) => {
      const { token } = await shareIn(world, tokenOfManyVaults);
      return { path: "/v1/events?after=0", token };
    },
  },
  {
    endpoint: "GET /v1/activity",
    why: "1,000 entries of 100 vaults, whose reads of 100 Items came alone",
    prepare: async (world) => {
      const { token } = await shareIn(world, tokenOfFullLogs);
      return { path: `/v1/activity?limit=1000`, token };
    },
  },
  {
    endpoint: "GET /v1/activity",
    why: "1,000 entries of 100 vaults, whose reads came one by one",
    prepare: async (world) => {
      const { token } = await shareIn(world, tokenOfShortSegments);
      return { path: `/v1/activity?limit=1000`, token };
    },
  },
  {
    endpoint: "GET /v1/activity",
    why: "a filter that no entry of 100 vaults matches",
    prepare: async (world) => {
      const { token } = await shareIn(world, tokenOfFullLogs);
      return { path: `/v1/activity?limit=1&action=DELETE`, token };
    },
  },
  {
    endpoint: "GET /v1/activity",
    why: "the same, and the reads in these logs came one by one",
    prepare: async (world) => {
      const { token } = await shareIn(world, tokenOfShortSegments);
      return { path: `/v1/activity?limit=1&action=DELETE`, token };
    },
  },
];

const VERSIONS = `${ITEM}/versions`;
const DELETED = "/v1/vaults/:vault/deleted-items";
const deletedFiles = (world: World) => vaultWithDeletedFiles(world);

const history: readonly WorstRequest[] = [
  {
    endpoint: `POST ${ITEM}/archive`,
    why: "an Item of 512 KiB",
    stores: "the version before it is kept",
    prepare: async (world) => {
      const { path, token } = await vaultWithItem(world, largeItem());
      return { path: `${path}/archive`, token, headers: KEY };
    },
  },
  {
    endpoint: `POST ${ITEM}/unarchive`,
    why: "an Item of 512 KiB",
    stores: "the version before it is kept",
    prepare: async (world) => {
      const { path, token } = await vaultWithItem(world, largeItem());
      await world.ask("POST", `${path}/archive`, token);
      return { path: `${path}/unarchive`, token, headers: KEY };
    },
  },
  {
    endpoint: `GET ${VERSIONS}`,
    why: "100 earlier versions with large tags",
    prepare: async (world) => {
      const { path, token } = await vaultWithVersions(world);
      return { path: `${path}/versions`, token };
    },
  },
  {
    endpoint: `GET ${VERSIONS}/:version`,
    why: "1,000 Files that only this version has",
    prepare: async (world) => {
      const { path, token } = await shareIn(world, vaultWithEndedFiles);
      return { path: `${path}/versions/1`, token };
    },
  },
  {
    endpoint: `POST ${VERSIONS}/:version/restore`,
    why: "1,000 Files that only this version has",
    stores: "each File gets a row again",
    prepare: async (world) => {
      const { path, token } = await vaultWithEndedFiles(world);
      return { path: `${path}/versions/1/restore`, token, headers: KEY };
    },
  },
  {
    endpoint: `DELETE ${VERSIONS}/:version`,
    why: "1,000 Files that only this version has",
    prepare: async (world) => {
      // The last request to this state changes it.
      const { path, token } = await shareIn(world, vaultWithEndedFiles);
      return { path: `${path}/versions/1`, token, headers: KEY };
    },
  },
  {
    endpoint: `GET ${DELETED}`,
    why: "1,000 deleted Items",
    prepare: async (world) => {
      const { deleted, token } = await vaultWithDeleted(world);
      return { path: `${deleted}?limit=1000`, token };
    },
  },
  {
    endpoint: `GET ${DELETED}/:item`,
    why: "1,000 Files",
    prepare: async (world) => {
      const { deleted, token } = await shareIn(world, deletedFiles);
      return { path: deleted, token };
    },
  },
  {
    endpoint: `GET ${DELETED}/:item/files/:file/content`,
    why: "the largest content",
    prepare: async (world) => {
      const { deleted, token } = await vaultWithDeletedFiles(world, () => vaultWithContents(world, [world.sizes.content]));
      const { files } = (await world.ask("GET", deleted, token)) as { files: { content_path: string }[] };
      return { path: `/${files[0]!.content_path}`, token };
    },
  },
  {
    endpoint: `POST ${DELETED}/:item/restore`,
    why: "1,000 Files",
    prepare: async (world) => {
      const { deleted, token } = await vaultWithDeletedFiles(world);
      return { path: `${deleted}/restore`, token, headers: KEY };
    },
  },
  {
    endpoint: `DELETE ${DELETED}/:item`,
    why: "1,000 Files",
    prepare: async (world) => {
      // The last request to this state changes it.
      const { deleted, token } = await shareIn(world, deletedFiles);
      return { path: deleted, token, headers: KEY };
    },
  },
];

const RESOLVE = "POST /v1/resolve";

const resolving = (token: string, references: readonly string[]): Sent => ({ path: "/v1/resolve", token, body: { references } });

const NAMES = times(10, (index) => `Item ${index}`);

/** `tokenOfManyVaults`, each with an Item of the title `Same`, and with one of each of the names. */
async function tokenOfNamedItems(world: World) {
  const made = await shareIn(world, tokenOfManyVaults);
  for (const vault of made.vaults)
    await seedItems(
      world.env,
      vault,
      ["Same", ...NAMES].map((name) => login(vault, name)),
    );
  return made;
}

const resolves: readonly WorstRequest[] = [
  {
    endpoint: RESOLVE,
    why: "100 references by name to 100 vaults",
    prepare: async (world) => {
      const { token, vaults } = await shareIn(world, tokenOfNamedItems);
      return resolving(
        token,
        vaults.map((_, index) => `op://VAULT ${index}/same/x`),
      );
    },
  },
  {
    endpoint: RESOLVE,
    why: "10 references by name to each of 100 vaults that have such an Item",
    prepare: async (world) => {
      const { token } = await shareIn(world, tokenOfNamedItems);
      await world.ask("POST", "/v1/resolve", token, { references: ["op://vault 0/item 0/x"] });
      return resolving(
        token,
        NAMES.map((name) => `op://vault 99/${name}/x`),
      );
    },
  },
  {
    endpoint: RESOLVE,
    why: "100 Items of 512 KiB",
    prepare: async (world) => {
      const { items, vault, token } = await ownVault(world);
      const references: string[] = [];
      for (let made = 0; made < world.sizes.references; made++) {
        const { id } = await world.ask("POST", items, token, largeItem());
        references.push(`op://${vault}/${id}/f999`);
      }
      return resolving(token, references);
    },
  },
  {
    endpoint: RESOLVE,
    why: "the Files of Items with 2,000 Files together",
    prepare: async (world) => {
      const { items, vault, token } = await ownVault(world);
      const references: string[] = [];
      for (let made = 0; made < 2; made++) {
        const { id } = await world.ask("POST", items, token, { title: "Files", category: "DOCUMENT" });
        await seedFiles(
          world.env,
          vault,
          id,
          times(1_000, (index) => ({ name: `file ${index}` })),
        );
        references.push(...times(50, (index) => `op://${vault}/${id}/file ${index}?attribute=label`));
      }
      return resolving(token, references);
    },
  },
];

const wideToken = async (world: World) => {
  const vaults = Object.fromEntries(times(LIMITS.tokenVaults, () => [crypto.randomUUID(), "rw"]));
  return world.ask("POST", ADMIN_TOKENS, world.env.ADMIN_TOKEN, { name: "x".repeat(LIMITS.title), vaults });
};

const CHILDREN = "/v1/tokens";

/** A token of 100 vaults with as many tokens below it as there may be, but one, and the last of them. All have its vaults. */
const wideFamily = async (world: World) => {
  const vaults = Object.fromEntries(times(LIMITS.tokenVaults, () => [crypto.randomUUID(), "rw"]));
  const body = { name: "x".repeat(LIMITS.title), vaults, delegate: true };
  const root = await world.ask("POST", ADMIN_TOKENS, world.env.ADMIN_TOKEN, body);
  const children: Awaited<ReturnType<typeof world.ask>>[] = [];
  for (let count = 1; count < LIMITS.tokenDescendants; count++)
    children.push(await world.ask("POST", CHILDREN, root.token as string, body));
  return { id: root.id as string, token: root.token as string, last: children.at(-1)!.id as string, body };
};

const ISSUERS = "/v1/admin/issuers";
const RULES = "/v1/admin/rules";
const EXCHANGE = "/v1/token-exchange";
const PEOPLE = "/v1/admin/people";

/** As many people as there may be, but one. */
const allPeople = async (world: World): Promise<{ id: string; vaults: object }> => {
  const vaults = Object.fromEntries(times(LIMITS.tokenVaults, () => [crypto.randomUUID(), "rw" as const]));
  // `npm run limits` makes them anew for each request.
  await world.env.DB.prepare("DELETE FROM tokens WHERE kind = 'person'").run();
  await seedPeople(world.env, LIMITS.people - 2, vaults);
  const person = await world.ask("POST", PEOPLE, world.env.ADMIN_TOKEN, { email: `${"x".repeat(242)}@example.com`, vaults });
  return { id: person.id as string, vaults };
};

const writes: readonly WorstRequest[] = [
  {
    endpoint: `POST ${ITEMS}`,
    why: "an Item of 512 KiB with 1,000 fields, 64 of them generated",
    prepare: async (world) => {
      const { items, token } = await ownVault(world);
      return { path: items, token, body: largeItem(), headers: KEY };
    },
  },
  {
    endpoint: `POST ${ITEMS}`,
    why: "1,000 fields without any attribute",
    stores: "each field gets an id of 26 characters",
    prepare: async (world) => {
      const { items, token } = await ownVault(world);
      return { path: items, token, body: { ...emptyItem, fields: times(LIMITS.list, () => ({})) }, headers: KEY };
    },
  },
  {
    endpoint: `PUT ${ITEM}`,
    why: "an Item of 512 KiB with 1,000 fields, 64 of them generated",
    prepare: async (world) => {
      const { vault, path, token } = await vaultWithItem(world, emptyItem);
      return { path, token, body: largeItem(vault), headers: KEY };
    },
  },
  {
    endpoint: `PATCH ${ITEM}`,
    why: "1,000 operations on 1,000 fields, 64 of which generate a value",
    prepare: async (world) => {
      const { path, token } = await vaultWithItem(world, manyFields);
      return { path, token, body: manyOperations, headers: KEY };
    },
  },
  {
    endpoint: `PATCH ${ITEM}`,
    why: "50 bytes on an Item of 512 KiB, with an Idempotency-Key",
    stores: "the version before it is kept",
    prepare: async (world) => {
      const { path, token } = await vaultWithItem(world, largeItem());
      return { path, token, body: [{ op: "replace", path: "/favorite", value: true }], headers: KEY };
    },
  },
  {
    endpoint: `DELETE ${ITEM}`,
    why: "an Item with 1,000 Files",
    prepare: async (world) => ({ ...(await vaultWithFiles(world)), headers: KEY }),
  },
  {
    endpoint: `POST ${FILES}`,
    why: "the largest content, of an Item with 998 Files",
    prepare: async (world) => {
      const { path, token } = await vaultWithFiles(world);
      const files = (await world.ask("GET", `${path}/files`, token)) as { id: string }[];
      for (const { id } of files.slice(0, 2)) await world.ask("DELETE", `${path}/files/${id}`, token);
      return { path: `${path}/files?name=f`, token, body: new Uint8Array(world.sizes.content).fill(7), headers: KEY };
    },
  },
  {
    endpoint: `PUT ${FILES}/:file/content`,
    why: "the largest content",
    prepare: async (world) => {
      const { file, token } = await vaultWithContents(world, [10]);
      return { path: `${file}/content`, token, body: new Uint8Array(world.sizes.content).fill(7), headers: KEY };
    },
  },
  {
    endpoint: `DELETE ${FILES}/:file`,
    why: "one of 1,000 Files",
    prepare: async (world) => {
      const { path, token } = await vaultWithFiles(world);
      const [first] = (await world.ask("GET", `${path}/files`, token)) as { id: string }[];
      return { path: `${path}/files/${first!.id}`, token, headers: KEY };
    },
  },
];

const forAdmin = (path: string, world: World, rest: Partial<Sent> = {}): Sent => ({
  path,
  token: world.env.ADMIN_TOKEN,
  ...rest,
});

const JOBS = "/v1/admin/jobs";

/** Out: the id of a job that has ended. */
async function endedJob({ ask, env }: World, job: object = { kind: "rewrap" }): Promise<string> {
  // One that an earlier request has started may exclude it.
  const jobs = (await ask("GET", JOBS, env.ADMIN_TOKEN)) as unknown as readonly { id: string; endedAt?: string }[];
  for (const { id, endedAt } of jobs) if (endedAt === undefined) await ask("GET", `${JOBS}/${id}?wait=30`, env.ADMIN_TOKEN);
  const { id } = await ask("POST", JOBS, env.ADMIN_TOKEN, job);
  await ask("GET", `${JOBS}/${id}?wait=30`, env.ADMIN_TOKEN);
  return id as string;
}

const BACKUPS = "/v1/admin/backups";

const backUp = (world: World, vault: string): Promise<string> => endedJob(world, { kind: "backup", vault });

const WEBHOOKS = `${ADMIN_VAULTS}/:vault/webhooks`;
const longestUrl = (origin: string): string => `${origin}/${"x".repeat(LIMITS.webhookUrl)}`.slice(0, LIMITS.webhookUrl);
const LONGEST_URL = longestUrl("https://hooks.example.com");

/** A vault with so many webhooks. Out: the path of its webhooks, and that of the last one. */
async function vaultWithWebhooks(world: World, count: number, url = LONGEST_URL): Promise<{ path: string; last: string }> {
  const { vault } = await ownVault(world);
  const path = `${ADMIN_VAULTS}/${vault}/webhooks`;
  let last = "";
  for (let n = 0; n < count; n++) {
    last = (await world.ask("POST", path, world.env.ADMIN_TOKEN, { url, enabled: false })).id as string;
  }
  return { path, last: `${path}/${last}` };
}

/** A vault with as many webhooks as it may have. */
const fullWebhooks = (world: World) => vaultWithWebhooks(world, LIMITS.webhooks);

/** A vault with a webhook whose receiver is there, where the world has one. */
const reachableWebhook = (world: World) => {
  const { WEBHOOK_TEST_ORIGIN: origin } = world.env;
  return vaultWithWebhooks(world, 1, origin ? longestUrl(origin) : LONGEST_URL);
};

const byAdmin: readonly WorstRequest[] = [
  {
    endpoint: `PUT ${BACKUPS}/object`,
    why: "the largest content",
    prepare: async (world) => {
      const key = ["contents", ...times(3, () => crypto.randomUUID())].join("/");
      return forAdmin(`${BACKUPS}/object?key=${key}`, world, { body: new Uint8Array(world.sizes.content) });
    },
  },
  {
    endpoint: `GET ${ADMIN_VAULTS}`,
    why: "all vaults",
    prepare: async (world) => {
      await manyVaults(world, world.sizes.vaults);
      return forAdmin(ADMIN_VAULTS, world);
    },
  },
  {
    endpoint: `POST ${ADMIN_VAULTS}`,
    why: "the longest description",
    prepare: async (world) =>
      forAdmin(ADMIN_VAULTS, world, { body: { name: "v", description: "x".repeat(LIMITS.string) }, headers: KEY }),
  },
  {
    endpoint: `PATCH ${ADMIN_VAULTS}/:vault`,
    why: "the longest description",
    prepare: async (world) => {
      const { vault } = await ownVault(world);
      return forAdmin(`${ADMIN_VAULTS}/${vault}`, world, { body: { description: "x".repeat(LIMITS.string) }, headers: KEY });
    },
  },
  {
    endpoint: `POST ${ADMIN_VAULTS}/:vault/keys`,
    why: "the longest list of keys",
    prepare: async (world) => {
      const { vault } = await ownVault(world);
      const path = `${ADMIN_VAULTS}/${vault}/keys`;
      const vaults: { id: string; dataKey: { id: string } }[] = await world.ask("GET", ADMIN_VAULTS, world.env.ADMIN_TOKEN);
      let replaces = vaults.find(({ id }) => id === vault)!.dataKey.id;
      for (let n = 2; n < KEYS_MAX; n++)
        replaces = (await world.ask("POST", path, world.env.ADMIN_TOKEN, { replaces })).dataKey.id;
      return forAdmin(path, world, { body: { replaces }, headers: KEY });
    },
  },
  {
    endpoint: `GET ${ADMIN_TOKENS}`,
    why: "all tokens",
    prepare: async (world) => forAdmin(ADMIN_TOKENS, world),
  },
  {
    endpoint: `POST ${ADMIN_TOKENS}`,
    why: "100 vaults and the longest name",
    prepare: async (world) => {
      const vaults = Object.fromEntries(times(LIMITS.tokenVaults, () => [crypto.randomUUID(), "rw"]));
      return forAdmin(ADMIN_TOKENS, world, { body: { name: "x".repeat(LIMITS.title), vaults } });
    },
  },
  {
    endpoint: `GET ${ADMIN_TOKENS}/:token`,
    why: "a token of 100 vaults",
    prepare: async (world) => forAdmin(`${ADMIN_TOKENS}/${(await shareIn(world, wideToken)).id}`, world),
  },
  {
    endpoint: `DELETE ${ADMIN_TOKENS}/:token`,
    why: "a token of 100 vaults, with 99 below it",
    stores: "the names of the tokens, which stay, and an entry of the log for each",
    prepare: async (world) => forAdmin(`${ADMIN_TOKENS}/${(await wideFamily(world)).id}`, world),
  },
  {
    endpoint: `GET ${CHILDREN}`,
    why: "99 tokens of 100 vaults",
    prepare: async (world) => ({ path: CHILDREN, token: (await shareIn(world, wideFamily)).token }),
  },
  {
    endpoint: `POST ${CHILDREN}`,
    why: "100 vaults and the longest name, beside 99 tokens",
    prepare: async (world) => {
      const { token, body } = await wideFamily(world);
      return { path: CHILDREN, token, body, headers: KEY };
    },
  },
  {
    endpoint: `DELETE ${CHILDREN}/:token`,
    why: "one of 99 tokens",
    prepare: async (world) => {
      const { token, last } = await wideFamily(world);
      return { path: `${CHILDREN}/${last}`, token };
    },
  },
  {
    endpoint: `GET ${WEBHOOKS}`,
    why: "10 webhooks with the longest URLs",
    prepare: async (world) => forAdmin((await shareIn(world, fullWebhooks)).path, world),
  },
  {
    endpoint: `POST ${WEBHOOKS}`,
    why: "the tenth one, with the longest URL",
    prepare: async (world) => {
      const { path } = await vaultWithWebhooks(world, LIMITS.webhooks - 1);
      return forAdmin(path, world, { body: { url: LONGEST_URL }, headers: KEY });
    },
  },
  {
    endpoint: `GET ${WEBHOOKS}/:webhook`,
    why: "one of 10 with the longest URLs",
    prepare: async (world) => forAdmin((await shareIn(world, fullWebhooks)).last, world),
  },
  {
    endpoint: `PATCH ${WEBHOOKS}/:webhook`,
    why: "another URL and another secret",
    prepare: async (world) => {
      const { last } = await shareIn(world, fullWebhooks);
      return forAdmin(last, world, { body: { url: `${LONGEST_URL.slice(0, -1)}y`, rotateSecret: true }, headers: KEY });
    },
  },
  {
    endpoint: `POST ${WEBHOOKS}/:webhook/test`,
    why: "one with the longest URL",
    prepare: async (world) => forAdmin(`${(await reachableWebhook(world)).last}/test`, world),
  },
  {
    endpoint: `GET ${WEBHOOKS}/:webhook/deliveries`,
    why: "20 attempts",
    prepare: async (world) => {
      const { last } = await reachableWebhook(world);
      for (let sent = 0; sent < 20; sent++) await world.ask("POST", `${last}/test`, world.env.ADMIN_TOKEN);
      return forAdmin(`${last}/deliveries`, world);
    },
  },
  {
    endpoint: `DELETE ${WEBHOOKS}/:webhook`,
    why: "one of 10 with the longest URLs",
    prepare: async (world) => forAdmin((await shareIn(world, fullWebhooks)).last, world),
  },
  {
    endpoint: `GET ${PEOPLE}`,
    why: "1,000 people with 100 vaults each",
    prepare: async (world) => {
      await shareIn(world, allPeople);
      return forAdmin(PEOPLE, world);
    },
  },
  {
    endpoint: `POST ${PEOPLE}`,
    why: "100 vaults, beside 999 people",
    prepare: async (world) => {
      const { vaults } = await shareIn(world, allPeople);
      return forAdmin(PEOPLE, world, { body: { email: `${"y".repeat(242)}@example.com`, vaults }, headers: KEY });
    },
  },
  {
    endpoint: `GET ${PEOPLE}/:person`,
    why: "100 vaults",
    prepare: async (world) => forAdmin(`${PEOPLE}/${(await shareIn(world, allPeople)).id}`, world),
  },
  {
    endpoint: `PATCH ${PEOPLE}/:person`,
    why: "100 vaults",
    prepare: async (world) => {
      const { id, vaults } = await shareIn(world, allPeople);
      return forAdmin(`${PEOPLE}/${id}`, world, { body: { vaults } });
    },
  },
  {
    endpoint: `DELETE ${PEOPLE}/:person`,
    why: "one of 1,000 people",
    prepare: async (world) => forAdmin(`${PEOPLE}/${(await shareIn(world, allPeople)).id}`, world),
  },
  {
    endpoint: `GET ${ISSUERS}`,
    why: "an issuer with 100 keys",
    prepare: async (world) => {
      await shareIn(world, largestIssuer);
      return forAdmin(ISSUERS, world);
    },
  },
  {
    endpoint: `POST ${ISSUERS}`,
    why: "100 keys",
    stores: "the keys are kept sealed, in base64, and the index and the entry of the log beside them",
    prepare: async (world) => {
      const { jwks } = await shareIn(world, largestIssuer);
      const issuer = `https://${crypto.randomUUID()}.example.com`;
      return forAdmin(ISSUERS, world, { body: { name: "x".repeat(LIMITS.title), issuer, jwks }, headers: KEY });
    },
  },
  {
    endpoint: `GET ${ISSUERS}/:issuer`,
    why: "100 keys",
    prepare: async (world) => forAdmin(`${ISSUERS}/${(await shareIn(world, largestIssuer)).id}`, world),
  },
  {
    endpoint: `DELETE ${ISSUERS}/:issuer`,
    why: "99 rules",
    stores: "the names of the rules, which stay, and an entry of the log for each",
    prepare: async (world) => forAdmin(`${ISSUERS}/${(await largestIssuer(world)).id}`, world),
  },
  {
    endpoint: `GET ${RULES}`,
    why: "99 rules of 100 vaults with 32 claims",
    prepare: async (world) => {
      await shareIn(world, largestIssuer);
      return forAdmin(RULES, world);
    },
  },
  {
    endpoint: `POST ${RULES}`,
    why: "100 vaults and 32 claims, beside 99 rules",
    prepare: async (world) => forAdmin(RULES, world, { body: (await largestIssuer(world)).rule, headers: KEY }),
  },
  {
    endpoint: `POST ${RULES}/test`,
    why: "50 tokens of 16 KiB, with 32 claims",
    prepare: async (world) => {
      const { rule, token } = await largestIssuer(world);
      for (let count = 0; count < LIMITS.pastExchanges; count++)
        await world.ask("POST", EXCHANGE, "", formOf(await token())).catch(() => undefined);
      return forAdmin(`${RULES}/test`, world, { body: rule });
    },
  },
  {
    endpoint: `GET ${RULES}/:rule`,
    why: "100 vaults and 32 claims",
    prepare: async (world) => forAdmin(`${RULES}/${(await shareIn(world, largestIssuer)).last}`, world),
  },
  {
    endpoint: `DELETE ${RULES}/:rule`,
    why: "one of 99 rules",
    prepare: async (world) => forAdmin(`${RULES}/${(await largestIssuer(world)).last}`, world),
  },
  {
    endpoint: "GET /v1/admin/health",
    why: "",
    prepare: async (world) => forAdmin("/v1/admin/health", world),
  },
  {
    endpoint: "GET /v1/admin/keys",
    why: "the only root key",
    prepare: async (world) => forAdmin("/v1/admin/keys", world),
  },
  {
    endpoint: `GET ${JOBS}`,
    why: "a page of 50 jobs",
    prepare: async (world) => {
      for (let count = 0; count < 50; count++) await endedJob(world);
      return forAdmin(JOBS, world);
    },
  },
  {
    endpoint: `POST ${JOBS}`,
    why: "nothing is under another root key",
    prepare: async (world) => forAdmin(JOBS, world, { body: { kind: "rewrap" }, headers: KEY }),
  },
  {
    endpoint: `POST ${JOBS}`,
    why: "a restore, with its checks",
    prepare: async (world) => {
      const { vault } = await largeVault(world, 100);
      const { id } = await world.ask("POST", JOBS, world.env.ADMIN_TOKEN, { kind: "backup", vault });
      await world.ask("GET", `${JOBS}/${id}?wait=30`, world.env.ADMIN_TOKEN);
      return forAdmin(JOBS, world, { body: { kind: "restore", vault, dryRun: true }, headers: { "Idempotency-Key": vault } });
    },
  },
  {
    endpoint: `GET ${JOBS}/:job`,
    why: "one that has ended",
    prepare: async (world) => forAdmin(`${JOBS}/${await endedJob(world)}?wait=30`, world),
  },
  {
    endpoint: `DELETE ${JOBS}/:job`,
    why: "one that has ended",
    prepare: async (world) => forAdmin(`${JOBS}/${await endedJob(world)}`, world),
  },
  {
    endpoint: `GET ${JOBS}/:job/findings`,
    why: "one without findings",
    prepare: async (world) => forAdmin(`${JOBS}/${await endedJob(world)}/findings`, world),
  },
  {
    endpoint: `GET ${BACKUPS}`,
    why: "one registry",
    prepare: async (world) => forAdmin(BACKUPS, world),
  },
  {
    endpoint: `GET ${BACKUPS}/vaults`,
    why: "a page of 20 vaults",
    prepare: async (world) => {
      for (let count = 0; count < 20; count++) {
        const { vault } = await ownVault(world);
        await backUp(world, vault);
      }
      return forAdmin(`${BACKUPS}/vaults`, world);
    },
  },
  {
    endpoint: `GET ${BACKUPS}/vaults/:vault`,
    why: "one snapshot",
    prepare: async (world) => forAdmin(`${BACKUPS}/vaults/${(await shareIn(world, largestVault)).vault}`, world),
  },
  {
    endpoint: `GET ${BACKUPS}/objects`,
    why: "the objects of a vault",
    prepare: async (world) => forAdmin(`${BACKUPS}/objects`, world),
  },
  {
    endpoint: `GET ${BACKUPS}/object`,
    why: "a manifest",
    prepare: async (world) => {
      const { vault } = await ownVault(world);
      await backUp(world, vault);
      return forAdmin(`${BACKUPS}/object?key=vaults/${vault}/00000001.manifest`, world);
    },
  },
  {
    endpoint: `GET ${ADMIN_TOKENS}/:token/activity`,
    why: "a token of 100 vaults without an entry in their logs",
    prepare: async (world) => {
      const { id } = await shareIn(world, tokenOfFullLogs);
      return forAdmin(`${ADMIN_TOKENS}/${id}/activity?limit=1000`, world);
    },
  },
  {
    endpoint: `GET ${ADMIN_TOKENS}/:token/activity`,
    why: "the same, and the reads in these logs came one by one",
    prepare: async (world) => {
      const { id } = await shareIn(world, tokenOfShortSegments);
      return forAdmin(`${ADMIN_TOKENS}/${id}/activity?limit=1`, world);
    },
  },
  {
    endpoint: "GET /v1/admin/activity",
    why: "1,000 entries",
    prepare: async (world) => {
      await fillLogs(world, [NOWHERE], [1_200]);
      return forAdmin("/v1/admin/activity?limit=1000", world);
    },
  },
  {
    endpoint: "GET /v1/admin/activity/export",
    why: "1,000 entries",
    reads: "3 for each log",
    prepare: async (world) => {
      await fillLogs(world, [NOWHERE], [1_200]);
      return forAdmin("/v1/admin/activity/export?limit=1000", world);
    },
  },
];

/** What the console sends. */
const CONSOLE = { "Sec-Fetch-Site": "same-origin", "Item-Vault-Console": "1" };
const SESSION = "/console/session";
const CLAIMS = "the claims of the token are sealed in the row, and the index by token gets an entry";

/** The headers of a request with a session of a token of 100 vaults. */
const wideSession = async (world: World) => sessionOf(world, (await wideToken(world)).token as string);

/** The headers of a request with a session of a token, over https and over http. */
async function sessionOf(world: World, token: string): Promise<Record<string, string>> {
  const store = await openStore(world.env, Date.now());
  const claims = store.ok ? await verifyToken(store.value.keyring, token, Date.now(), 0) : store;
  if (!store.ok || !claims.ok) throw new Error("The token does not verify");
  const made = await insertSession(
    store.value,
    { token: claims.value },
    { createdAt: Date.now(), expiresAt: Date.now() + LIMITS.session * 1_000 },
  );
  if (!made.ok) throw new Error("There is no session");
  const { text } = made.value;
  return { ...CONSOLE, Cookie: `__Host-item-vault-session=${text}; item-vault-session=${text}` };
}

const ACTORS = "GET /v1/vaults/:vault/actors";

const sessions: readonly WorstRequest[] = [
  {
    endpoint: ACTORS,
    why: "2,500 writes",
    prepare: async (world) => {
      const { vault, token } = await vaultWithEvents(world);
      return { path: `/v1/vaults/${vault}/actors`, headers: await sessionOf(world, token) };
    },
  },
  {
    endpoint: ACTORS,
    why: "an Item with 100 earlier versions with large tags",
    prepare: async (world) => {
      const { vault, path, token } = await vaultWithVersions(world);
      return { path: `/v1/vaults/${vault}/actors?item=${path.slice(-36)}`, headers: await sessionOf(world, token) };
    },
  },
  {
    endpoint: "POST /v1/sign-in-codes",
    why: "a token of 100 vaults",
    stores: CLAIMS,
    prepare: async (world) => ({ path: "/v1/sign-in-codes", token: (await wideToken(world)).token }),
  },
  { endpoint: "POST /v1/admin/sign-in-codes", why: "", prepare: async (world) => forAdmin("/v1/admin/sign-in-codes", world) },
  {
    endpoint: `GET ${SESSION}`,
    why: "a token of 100 vaults",
    prepare: async (world) => ({ path: SESSION, headers: await wideSession(world) }),
  },
  {
    endpoint: `POST ${SESSION}`,
    why: "the admin signs in, with the session of a token of 100 vaults",
    stores: CLAIMS,
    prepare: async (world) => ({ path: SESSION, headers: await wideSession(world), body: { token: world.env.ADMIN_TOKEN } }),
  },
  {
    endpoint: `DELETE ${SESSION}`,
    why: "a token of 100 vaults",
    prepare: async (world) => ({ path: SESSION, headers: await wideSession(world) }),
  },
];

/** A session of a person with 100 vaults. */
const personHeaders = async (world: World): Promise<Record<string, string>> => {
  const vaults = Object.fromEntries(times(LIMITS.tokenVaults, () => [crypto.randomUUID(), "rw"]));
  const email = `${crypto.randomUUID()}@example.com`;
  await world.env.DB.prepare("DELETE FROM tokens WHERE kind = 'person'").run();
  await world.ask("POST", PEOPLE, world.env.ADMIN_TOKEN, { email, vaults });
  const text = await personSession(world.env, email);
  return { ...CONSOLE, Cookie: `__Host-item-vault-session=${text}; item-vault-session=${text}` };
};

const VERIFIER = "A".repeat(43);
const CHALLENGE = "DwBzhbb51LfusnSGBa_hqYSgo7-j8BTQnip4TOnlzRo";
const AUTHORIZATION = { redirect_uri: "http://127.0.0.1:49152/", code_challenge: CHALLENGE };
const OF_PERSON = "the claims of the person are sealed in the row";

const logins: readonly WorstRequest[] = [
  {
    endpoint: "POST /console/authorizations",
    why: "a person with 100 vaults",
    stores: OF_PERSON,
    prepare: async (world) => ({ path: "/console/authorizations", headers: await personHeaders(world), body: AUTHORIZATION }),
  },
  {
    endpoint: "POST /console/login-codes",
    why: "a person with 100 vaults",
    stores: OF_PERSON,
    prepare: async (world) => ({ path: "/console/login-codes", headers: await personHeaders(world), body: { vaults: {} } }),
  },
  {
    endpoint: "POST /v1/login/token",
    why: "the code of a person with 100 vaults",
    stores: OF_PERSON,
    prepare: async (world) => {
      const body = AUTHORIZATION;
      const reply = await world.ask("POST", "/console/authorizations", "", body, await personHeaders(world));
      return { path: "/v1/login/token", body: { code: reply.code, code_verifier: VERIFIER } };
    },
  },
];

const open: readonly WorstRequest[] = [
  ...["/heartbeat", "/health", "/metrics"].map((path) => ({
    endpoint: `GET ${path}`,
    why: "",
    prepare: async ({ env }: World) => ({ path, token: env.METRICS_TOKEN }),
  })),
  {
    endpoint: `POST ${EXCHANGE}`,
    why: "one of 99 rules of 100 vaults with 32 claims",
    stores: "the row of a token of 100 vaults, and the claims of the workload's token",
    prepare: async (world) => {
      const { token } = await shareIn(world, largestIssuer);
      return { path: EXCHANGE, body: formOf(await token({ claim0: "rule 7" })) };
    },
  },
];

/** The last one, because the alarm of the coordinator deletes the rows of the vault after the answer. */
const deletion: WorstRequest = {
  endpoint: `DELETE ${ADMIN_VAULTS}/:vault`,
  why: "a large vault",
  prepare: async (world) => forAdmin(`${ADMIN_VAULTS}/${(await shareIn(world, largestVault)).vault}`, world),
};

const LISTED: readonly WorstRequest[] = [
  ...reads,
  ...resolves,
  ...writes,
  ...history,
  ...byAdmin,
  ...sessions,
  ...logins,
  ...open,
  deletion,
];

/** The other operations that read one vault and nothing but its path. */
const plainReads = Object.values(OPERATIONS)
  .filter(({ method, path, access }) => method === "GET" && path.split(":")[1]?.startsWith("vault") && access.by === "token")
  .filter(({ path }) => path.split(":").length === 2 && !LISTED.some(({ endpoint }) => endpoint === `GET ${path}`))
  .map(({ path }): WorstRequest => ({
    endpoint: `GET ${path}`,
    why: "a large vault",
    prepare: async (world) => {
      const { vault, token } = await largeVault(world, 100);
      return { path: path.replace(":vault", vault), token };
    },
  }));

export const WORST_REQUESTS: readonly WorstRequest[] = [...LISTED, ...plainReads];
