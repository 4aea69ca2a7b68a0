import { OPERATIONS, type OperationId } from "../../../src/api/operations.ts";
import { seeded } from "../../support/seeded.ts";
import { Comparison } from "./compare.ts";
import { DRAWS } from "./draws.ts";
import { HOURLY_PATH, LATE_LOG, QUEUE_PATH, UNLOGGED } from "./faults.ts";
import { type Answer, SECRETS, type Sent, type Side } from "./pair.ts";
import { type Drawn, drawRequest } from "./requests.ts";
import { linkOf, type Reply, World } from "./world.ts";

/** Sends random requests to both servers, and compares the answers and then all that both have stored. */

type Both = readonly [Side, Side];

export interface Outcome {
  /** What differs, for a person to read: the first few. */
  readonly differences: readonly string[];
  /** Operations that no request has carried out. */
  readonly unsuccessful: readonly OperationId[];
}

/** Later differences follow from the first, as a rule. */
const DIFFERENCES_MAX = 3;

/** Writes that may be sent again. */
const KEYED_MAX = 6;

/** Differences of the log that are shown: one entry that is missing makes all later ones differ. */
const SHOWN_ENTRIES_MAX = 20;

/** Characters of a body that a difference shows. */
const SHOWN_MAX = 600;

/** Only a person may do these, and no issuer signs people in here. */
const OF_PEOPLE: ReadonlySet<OperationId> = new Set(["createAuthorization", "createLoginCode", "redeemLogin", "beginSignIn"]);

/** What exists before the random requests, besides vaults. */
const BEGINNING: readonly OperationId[] = [
  ...Array.from({ length: 6 }, () => "createToken" as const),
  ...Array.from({ length: 8 }, () => "createItem" as const),
  ...Array.from({ length: 4 }, () => "uploadFile" as const),
  "deleteItem",
  "createWebhook",
  "createWebhook",
  "createIssuer",
  "createRule",
];

const VAULTS = 3;

/** Rounds of requests for operations that none of the random requests has carried out. */
const ROUNDS_MAX = 12;

export async function runDifferential(sides: Both, seed: number, requests: number): Promise<Outcome> {
  const run = new Run(sides, new World(seeded(seed)));
  for (let vaults = 0; vaults < VAULTS; vaults++) await run.exchange(drawRequest(run.world, "createVault"));
  await run.begin([]);
  await run.startJob({ kind: "backup" });
  await run.ask("listBackupObjects");
  while (run.count < requests && !run.isOver) await run.exchange(run.draw());
  for (let round = 0; round < ROUNDS_MAX && run.unsuccessful.length > 0 && !run.isOver; round++)
    await run.begin(run.unsuccessful);
  if (!run.isOver) await run.compareStored();
  return { differences: run.differences, unsuccessful: run.unsuccessful };
}

/** What was not delivered before these may be left out. */
const STOPS_DELIVERIES: ReadonlySet<OperationId> = new Set(["updateWebhook", "createJob"]);

/** Requests whose entries in the log take the queue. */
const LATE_REQUESTS = 10;

const ENDED = new Set(["done", "failed", "stopped"]);

class Run {
  readonly world: World;
  readonly differences: string[] = [];
  readonly successful = new Set<OperationId>();
  readonly #sides: Both;
  readonly #comparison = new Comparison();
  /** The last writes with an Idempotency-Key. */
  #keyed: readonly Drawn[] = [];
  count = 0;

  constructor(sides: Both, world: World) {
    this.#sides = sides;
    this.world = world;
  }

  get isOver(): boolean {
    return this.differences.length >= DIFFERENCES_MAX;
  }

  get unsuccessful(): OperationId[] {
    return (Object.keys(DRAWS) as OperationId[]).filter((id) => !this.successful.has(id) && !OF_PEOPLE.has(id));
  }

  /** Makes something of what most operations need, and sends some requests for these operations. */
  async begin(operations: readonly OperationId[]): Promise<void> {
    for (const operation of [...BEGINNING, ...operations, ...operations, ...operations])
      // An Item with a File, so that a deleted one has a content.
      await this.exchange(drawRequest(this.world, operation, operation === "deleteItem" ? "file" : undefined));
  }

  /** Draws a request: sometimes again one of the last writes that have an Idempotency-Key. */
  draw(): Drawn {
    const drawn =
      this.#keyed.length > 0 && this.world.chance(0.03)
        ? { ...this.world.pick(this.#keyed), fault: undefined }
        : drawRequest(this.world);
    if ("Idempotency-Key" in drawn.headers) this.#keyed = [...this.#keyed, drawn].slice(-KEYED_MAX);
    return drawn;
  }

  /** Sends a request to both, and compares the answers. */
  async exchange(drawn: Drawn): Promise<readonly [Reply, Reply]> {
    this.count++;
    if (drawn.operation && STOPS_DELIVERIES.has(drawn.operation))
      for (const { text } of this.world.all("vault")) await this.#untilDelivered(text);
    const sent = [this.#filled(drawn, 0), this.#filled(drawn, 1)] as const;
    const answers = (await Promise.all(this.#sides.map((side, at) => side.send(sent[at]!)))) as [Answer, Answer];
    const replies = answers.map(replyOf) as [Reply, Reply];
    const differences = this.#comparison.ofAnswers(drawn.operation ?? operationAt(drawn), this.#sides, answers);
    if (differences.length > 0) this.#report(drawn, sent, answers, differences);
    const { operation, ids } = drawn;
    if (answers.every(({ status }) => status < 400) && operation) {
      this.successful.add(operation);
      this.world.learn(operation, ids, replies);
      if (operation === "createJob") await this.#endJob(replies);
    }
    return replies;
  }

  /** Waits until a job has ended on both, and compares it. */
  async #endJob(replies: readonly [Reply, Reply]): Promise<void> {
    const jobs = replies.map(({ body }) => body.id as string) as [string, string];
    await Promise.all(
      this.#sides.map(async (side, at) => {
        const path = `/v1/admin/jobs/${jobs[at]!}?wait=30`;
        while (!ENDED.has(replyOf(await side.send(adminRequest("GET", path))).body.state));
      }),
    );
    await this.ask("getJob", { job: this.world.refs.of(...jobs) });
  }

  /** Asks as the admin, or with a token. */
  ask(operation: OperationId, ids: Record<string, string> = {}, query = "", token: string = SECRETS.ADMIN_TOKEN) {
    const { method, path: pattern } = OPERATIONS[operation];
    const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => ids[name]!) + query;
    const headers = { Authorization: `Bearer ${token}` };
    return this.exchange({ operation, ids, method, path, headers, body: undefined, fault: undefined });
  }

  /** Compares everything that both servers have, when no work goes on any more. */
  async compareStored(): Promise<void> {
    await Promise.all(this.#sides.map((side) => side.send({ ...adminRequest("POST", HOURLY_PATH) })));
    for (let late = 0; late < LATE_REQUESTS; late++)
      await this.exchange({ ...drawRequest(this.world, "getItem"), fault: LATE_LOG });
    await Promise.all(this.#sides.map(untilQueueIsEmpty));
    const vaults = (await this.ask("listAllVaults")).map(({ body }) => body.map(({ id }: { id: string }) => id)) as [
      string[],
      string[],
    ];
    const refs = vaults[0].map((vault, at) => this.world.refs.of(vault, vaults[1][at]!));
    const token = await this.#newToken(refs);
    for (const vault of refs) {
      await this.ask("listItems", { vault }, "?archived=true", token);
      await this.ask("listDeletedItems", { vault }, "", token);
      await this.ask("listEvents", { vault }, "?after=0&limit=1000", token);
      await this.#compareWebhooks(vault);
    }
    for (const list of ["listTokens", "listPeople", "listIssuers", "listRules", "listJobs", "listKeys", "getMetrics"] as const)
      await this.ask(list, {}, "", list === "getMetrics" ? SECRETS.METRICS_TOKEN : undefined);
    await this.ask("beginSignIn");
    await this.startJob({ kind: "verify" });
    await this.startJob({ kind: "backup" });
    await this.#compareLogs();
  }

  async #newToken(vaults: readonly string[]): Promise<string> {
    const body = JSON.stringify({ name: "last", vaults: Object.fromEntries(vaults.slice(-100).map((vault) => [vault, "rwd"])) });
    const [left, right] = await this.exchange({
      ...adminRequest("POST", "/v1/admin/tokens"),
      body,
      operation: "createToken",
      ids: {},
    });
    return this.world.refs.of(left.body.token, right.body.token);
  }

  /** Starts a job and waits for its end. */
  async startJob(body: object): Promise<void> {
    const request = { ...adminRequest("POST", "/v1/admin/jobs"), body: JSON.stringify(body) };
    await this.exchange({ ...request, operation: "createJob", ids: {} });
  }

  /** Compares all entries of all logs, in the order of their requests: that of the pages follows from random ids. */
  async #compareLogs(): Promise<void> {
    const [left, right] = await Promise.all(this.#sides.map(entriesOf));
    this.differences.push(...this.#comparison.differences(left, right, "log").slice(0, SHOWN_ENTRIES_MAX));
  }

  /** Compares the messages that the receivers have got. */
  async #compareWebhooks(vault: string): Promise<void> {
    const lists = await this.#untilDelivered(vault);
    await this.ask("listWebhooks", { vault });
    for (const [index, { id, url }] of lists[0].entries()) {
      await this.ask("listDeliveries", { vault, webhook: this.world.refs.of(id, lists[1][index]?.id ?? "") });
      const [left, right] = await Promise.all(this.#sides.map((side) => messagesOf(side, new URL(url).pathname)));
      this.differences.push(...this.#comparison.differences(left, right, `messages to ${url}`));
    }
  }

  /** Waits until no event of the vault waits for delivery. Returns the webhooks of each server. */
  #untilDelivered(vault: string): Promise<[Webhook[], Webhook[]]> {
    const lists = this.#sides.map(async (side, at) => {
      const path = this.world.refs.fill(`/v1/admin/vaults/${vault}/webhooks`, at as 0 | 1);
      for (;;) {
        const { body } = replyOf(await side.send({ ...adminRequest("GET", path), fault: UNLOGGED }));
        const webhooks = Array.isArray(body) ? (body as Webhook[]) : [];
        if (webhooks.every(({ state, pending }) => state !== "ACTIVE" || pending === 0)) return webhooks;
      }
    });
    return Promise.all(lists) as unknown as Promise<[Webhook[], Webhook[]]>;
  }

  #filled(drawn: Drawn, at: 0 | 1): Sent {
    const { receiver } = this.#sides[at];
    const fill = (text: string) => this.world.refs.fill(text, at).replaceAll("{receiver}", receiver);
    const { method, path, headers, body, fault } = drawn;
    return {
      method,
      path: encodeURI(fill(path)).replaceAll("%25", "%"),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, Buffer.from(fill(value)).toString("latin1")]),
      ),
      body: typeof body === "string" ? fill(body) : body,
      fault,
    };
  }

  #report({ operation, fault }: Drawn, sent: readonly Sent[], answers: readonly Answer[], differences: readonly string[]): void {
    const requests = sent.map(
      ({ method, path, headers, body }) => `${method} ${path} ${JSON.stringify(headers)} ${String(body).slice(0, SHOWN_MAX)}`,
    );
    const shown = answers.map(
      ({ status, headers, body }) => `${status} ${JSON.stringify(headers)} ${body.toString().slice(0, SHOWN_MAX)}`,
    );
    const lines = this.#sides.flatMap(({ name }, at) => [`${name} gets ${requests[at]}`, `${name} answers ${shown[at]}`]);
    this.differences.push(
      [`request ${this.count}, ${operation ?? "other"}${fault ? ` with the fault ${fault}` : ""}`, ...differences, ...lines].join(
        "\n",
      ),
    );
  }
}

const PATTERNS = (Object.keys(OPERATIONS) as OperationId[]).map((id) => {
  const { method, path } = OPERATIONS[id];
  return { id, pattern: new RegExp(`^${method} ${path.replaceAll(/:\w+/g, "[^/]+")}/?(\\?|$)`) };
});

/** Returns the operation at the method and path of a request. A drawn request may get a method that its operation does not have. */
const operationAt = ({ method, path }: Drawn): OperationId | undefined =>
  PATTERNS.find(({ pattern }) => pattern.test(`${method === "HEAD" ? "GET" : method} ${path.replaceAll(/\/+/g, "/")}`))?.id;

const adminRequest = (method: string, path: string): Sent => ({
  method,
  path,
  headers: { Authorization: `Bearer ${SECRETS.ADMIN_TOKEN}` },
  body: undefined,
  fault: undefined,
});

interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly state: string;
  readonly pending: number;
}

interface Entry {
  readonly requestId: string;
  readonly log: string;
}

/** The entries of all logs, by the times of their requests. */
async function entriesOf(side: Side): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let path = "/v1/admin/activity/export?limit=1000"; path !== "";) {
    const { headers, body } = replyOf(await side.send(adminRequest("GET", path)));
    entries.push(...(body as Entry[]));
    path = linkOf(headers);
  }
  const keyOf = ({ requestId, log }: Entry): string => `${requestId} ${log === "admin"}`;
  return entries.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

async function untilQueueIsEmpty(side: Side): Promise<void> {
  while ((await side.send(adminRequest("GET", QUEUE_PATH))).body.toString() !== "0");
}

function replyOf({ headers, body }: Answer): Reply {
  const names = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  const isJson = names["content-type"]?.startsWith("application/json") === true && body.length > 0;
  return { headers: names, body: isJson ? JSON.parse(body.toString()) : undefined };
}

/** The events that a webhook has got, each once: a delivery that was cut off is repeated. Tests have no place in their order. */
async function messagesOf(side: Side, path: string): Promise<unknown[]> {
  const messages = new Map((await side.received(path)).map(({ headers, body }) => [headers["webhook-id"], JSON.parse(body)]));
  return Array.from(messages.values() as Iterable<{ readonly type: string }>).filter(({ type }) => type !== "test");
}
