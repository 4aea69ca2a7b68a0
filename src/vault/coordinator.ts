import { DurableObject } from "cloudflare:workers";
import { startJob } from "../durable-object-calls.ts";
import { failedBy, logRefusal, logFailure } from "../log.ts";
import { formatCursor } from "../model/cursor.ts";
import { sequenceOf } from "../model/event.ts";
import type { ContentAddress } from "../model/file.ts";
import type { VerifyAnswer, VerifyRequest } from "../model/job.ts";
import { LIMITS } from "../model/limits.ts";
import { type Answer, type Operation, OPERATION_FORMAT, SERVICE, withoutRequest } from "../model/operation.ts";
import { fail, map, ok, type Refusal, type Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { AttemptRequest, RecordedAttempt, Webhook, WebhookRequest } from "../model/webhook.ts";
import { createRequestId } from "../request-id.ts";
import { parseSettings } from "../settings.ts";
import { createRowCache } from "../store/commit/cache.ts";
import { loadDueItems, recordVersionsKept } from "../store/commit/due-items.ts";
import { recountVault } from "../store/commit/repairs.ts";
import * as pending from "../store/contents/pending.ts";
import { openStore, type Store } from "../store/d1/database.ts";
import { bookmarkedDatabase } from "../store/d1/near-reads.ts";
import { COORDINATOR_MIGRATIONS, migrateObject } from "../store/d1/object-schema.ts";
import { deleteAllProgress } from "../store/events/webhook-progress.ts";
import type { RestoreContents } from "../store/restore/step.ts";
import { runAlarm, setAlarm } from "./alarm.ts";
import { commitGroup } from "./group.ts";
import { webhookPorts, committedContents, databasePorts } from "./ports.ts";
import { createQueue, createTurns } from "./queue.ts";
import { answerWebhooks, answerAttempts } from "./webhooks/admin.ts";
import { announceCommit } from "./webhooks/delivery.ts";

/** A group holds its Items in memory, sealed and decrypted, before and after: 32 of 512 KiB may take 80 MiB of the 128. */
const GROUP_OPERATIONS_MAX = 32;

/** A group also holds the bodies of its operations, parsed: four of the largest, or 32 of 128 KiB. */
const GROUP_BYTES_MAX = 4 * LIMITS.body;

/** Characters of sealed text in the cache: a thousand ordinary Items. Vaults that share an isolate share its memory. */
const CACHED_CHARACTERS_MAX = 1024 * 1024;

/** Time for which commits are spaced after a call of `spaceCommits`. Each pass of a backup sends one call. */
const SPACED_MS = 10_000;

const clock = () => Date.now();

/**
 * The Durable Object of one vault. Every write to the vault goes through it, which puts the writes in one order. Its durable state is the
 * list of pending contents and the progress of the webhooks; its cache only saves a D1 call. So a coordinator that was restarted continues
 * without loss. Two coordinators of one vault at the same time cost retries, not writes: see store/commit/fence.ts and docs/consistency.md.
 *
 * During a deployment, Workers of one release call coordinators of another: the names of the methods stay.
 */
export class VaultCoordinator extends DurableObject<Env> {
  readonly #cache = createRowCache(CACHED_CHARACTERS_MAX);
  /** The time until which commits are spaced: Unix milliseconds. */
  #spacedUntil = 0;
  readonly #turn = createTurns(); // of commits and repairs: each would refuse the other
  readonly #sweepTurn = createTurns(); // of sweeps of contents, and steps of a restore
  readonly #webhookTurn = createTurns(); // of requests about webhooks: each would refuse the other
  readonly #queue = createQueue<Operation, Result<Answer>>({
    commit: (group) => this.#turn(() => this.#commit(group)),
    busy: fail("busy"),
    failed: (error) => failedBy("A commit", error),
    waiting: LIMITS.waitingWrites,
    waitingBytes: LIMITS.waitingBytes,
    group: GROUP_OPERATIONS_MAX,
    groupBytes: GROUP_BYTES_MAX,
    isSpaced: () => clock() < this.#spacedUntil,
  });

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrateObject(ctx.storage.sql, COORDINATOR_MIGRATIONS);
  }

  /**
   * Commits one write. It takes effect once, even if sent again with the same id. Fails with `version_skew` if the operation has the format
   * of a later release.
   */
  async write(operation: Operation): Promise<Result<Answer>> {
    if (operation.format > OPERATION_FORMAT) return fail("version_skew");
    // The hourly run takes keys out of the list in D1 (store/rotation/earlier-keys.ts).
    if (operation.change.kind === "renew-key") this.#cache.update(undefined);
    return this.#queue.submit(operation);
  }

  /** Expires some Items and versions of the vault, for a job. Returns the position of the next call. */
  async expire(expiry: Expiry): Promise<Result<string | undefined>> {
    return this.#withStore((store) => expireItems(store, expiry, (operation) => this.write(operation)));
  }

  /** Records a content before its upload. The commit of its row deletes the record, else the alarm sweeps it after a day. */
  expect(address: ContentAddress): Promise<void> {
    pending.recordUpload(this.ctx.storage.sql, address, clock());
    return setAlarm(this.ctx.storage);
  }

  /**
   * Prepares a step of a restore (store/restore/vault.ts), including the first one of this vault. Before a step writes or deletes rows of
   * Files, their contents are recorded, like those of an upload. No object of the vault is deleted for a day, because the
   * coordinator may have recorded the vault's deletion. A running sweep ends first. Fails with `misconfigured`.
   */
  async prepareRestore({ expected, released }: RestoreContents): Promise<Result<undefined>> {
    this.#cache.update(undefined); // the vault is about to be replaced
    const { storage } = this.ctx;
    const settings = parseSettings(this.env);
    if (!settings.ok) return settings;
    await this.#sweepTurn(async () => {
      const now = clock();
      for (const address of expected) pending.recordUpload(storage.sql, address, now);
      pending.recordReleased(storage.sql, released.map(pending.pendingContent), now, settings.value.fileRetention);
      pending.postponeDeletions(storage.sql, now);
    });
    await setAlarm(storage);
    return ok(undefined);
  }

  /**
   * Answers a request of the admin about webhooks. It takes effect once, even if sent again with the same id. Fails as described in
   * webhooks/admin.ts.
   */
  webhooks(vault: string, request: WebhookRequest): Promise<Result<readonly Webhook[]>> {
    return this.#webhookTurn(() =>
      this.#withStore(async (store) => {
        const answer = await answerWebhooks(webhookPorts(this.ctx.storage.sql, store, clock), vault, request);
        await setAlarm(this.ctx.storage);
        return answer;
      }),
    );
  }

  /** Lists the attempts to deliver to a webhook, or sends a test to it. Fails as described in webhooks/admin.ts. */
  webhookAttempts(vault: string, request: AttemptRequest): Promise<Result<readonly RecordedAttempt[]>> {
    return this.#withStore((store) => answerAttempts(webhookPorts(this.ctx.storage.sql, store, clock), vault, request));
  }

  /**
   * Answers the requests of `verify` that only this coordinator can answer, or that must not run beside a commit. Fails with `unavailable`.
   */
  verify(vault: string, request: VerifyRequest): Promise<Result<VerifyAnswer>> {
    const { storage } = this.ctx;
    return this.#withStore(async (store): Promise<Result<VerifyAnswer>> => {
      if (request.kind === "pending") return ok(pending.listPending(storage.sql, request.keys));
      return this.#turn(async () => {
        const recounted = await recountVault(store.db, vault, request.acceptLoss);
        this.#cache.update(undefined); // its row of the vault has the earlier counters
        return map(recounted, () => []);
      });
    });
  }

  /** Spaces the commits of the next seconds, so that a backup can read the changes. No write is refused. */
  async spaceCommits(): Promise<void> {
    this.#spacedUntil = clock() + SPACED_MS;
  }

  /** Accepts the WebSocket of a Worker that waits for events. */
  override fetch(request: Request): Response {
    return acceptListener(this.ctx, request);
  }

  override alarm(): Promise<void> {
    return runAlarm({ storage: this.ctx.storage, env: this.env, sweepTurn: this.#sweepTurn });
  }

  /** Opens the store for `answer`. Fails with `misconfigured`, and as `answer` does. */
  async #withStore<R extends Result<unknown>>(answer: (store: Store) => Promise<R>): Promise<R | Refusal> {
    const store = await openStore(this.env, Date.now());
    return store.ok ? answer(store.value) : store;
  }

  /**
   * Commits a group of operations, with its effects in the coordinator's own storage: pending contents, webhooks, listeners and the alarm.
   * Returns one answer per operation, in order.
   */
  async #commit(group: readonly Operation[]): Promise<readonly Result<Answer>[]> {
    const { env } = this;
    const { storage } = this.ctx;
    const store = await openStore(env, clock());
    if (!store.ok) return group.map(() => store);
    const bookmarked = bookmarkedDatabase(env.DB);
    const ports = databasePorts({ ...store.value, db: bookmarked.db }, this.#cache, {
      recordReleased: async ({ vault, after, released }) => {
        const contents = after ? released.map(pending.pendingContent) : [pending.pendingVault(vault)];
        if (contents.length === 0) return;
        pending.recordReleased(storage.sql, contents, clock(), store.value.settings.fileRetention);
        await setAlarm(storage);
      },
      deleteCommitted: (commit) => {
        notifyListeners(this.ctx.getWebSockets(), commit.after);
        pending.deleteCommitted(storage.sql, committedContents(commit));
        if (commit.after) return;
        deleteAllProgress(storage.sql);
        // The answer to the deletion does not wait for the job. If the call is lost, the hourly run starts the job.
        void startJob(env, "purge", true).then((started) => started.ok || logRefusal(started));
      },
      clock,
    });
    const answers = await commitGroup(ports, group);
    // An uncertain write may have taken effect.
    if (answers.some((answer) => answer.ok || answer.failure.kind === "uncertain")) await announceCommit(storage, clock());
    return answers.map((answer) => map(answer, (value) => ({ ...value, bookmark: bookmarked.bookmark() })));
  }
}

/**
 * The WebSockets of the Workers that wait for events of the vault. They hibernate: an idle coordinator leaves memory and they stay open
 * (developers.cloudflare.com/durable-objects/best-practices/websockets). A message is only a hint, because the Worker reads the events. A
 * lost message costs time, but no event.
 */

/** The message after the deletion of the vault. */
const DELETED = "deleted";

/**
 * Notifies the Workers of a commit. `after` is the vault after it; absent if it was deleted. Never throws, because the commit has taken
 * effect.
 */
function notifyListeners(sockets: readonly WebSocket[], after: Vault | undefined): void {
  const message = after ? formatCursor({ sequence: sequenceOf(after), at: after.updatedAt }) : DELETED;
  for (const socket of sockets) {
    try {
      socket.send(message);
    } catch (error) {
      logFailure("A hint", error); // the WebSocket is closing
    }
  }
}

/** Accepts the WebSocket of a Worker. Every other request is a 426 (RFC 9110 section 15.5.22). */
function acceptListener(state: DurableObjectState, request: Request): Response {
  if (request.headers.get("Upgrade") !== "websocket") return new Response(null, { status: 426 });
  const { 0: client, 1: server } = new WebSocketPair();
  state.acceptWebSocket(server);
  return new Response(null, { status: 101, webSocket: client });
}

/**
 * Expires deleted Items past their retention, and versions beyond the setting. Each Item is a write of its own, in the order of all writes.
 * The write itself decides what is due (vault/changes.ts), because the Item may have changed since it was found.
 */

/** The input of one call: plain data, because it crosses Durable Object RPC. */
interface Expiry {
  readonly vault: string;
  /** True if the call also checks earlier versions. */
  readonly versions: boolean;
  /** The id of the Item after which the call begins; the empty text for the first call. */
  readonly after: string;
}

/** Items of a call, and the number of them that wait in the queue at once: other writes to the vault are committed in between. */
const CALL_ITEMS_MAX = 128;
const QUEUED_ITEMS_MAX = 32;

/**
 * Expires some Items of a vault. Returns the position of the next call, or undefined if all Items are done. It can be called again at any
 * time. Fails with `unavailable`, or as the first failed write does.
 */
async function expireItems(
  store: Store,
  { vault, versions, after }: Expiry,
  write: (operation: Operation) => Promise<Result<Answer>>,
): Promise<Result<string | undefined>> {
  const due = await loadDueItems(store, vault, versions, after, CALL_ITEMS_MAX);
  if (!due.ok) return due;
  const { items, next } = due.value;
  let failed: Refusal | undefined;
  for (let from = 0; from < items.length; from += QUEUED_ITEMS_MAX) {
    const operations = items
      .slice(from, from + QUEUED_ITEMS_MAX)
      .map((item) => withoutRequest(SERVICE, { id: createRequestId(clock()), vault, change: { kind: "expire-item", item } }));
    const answers = await Promise.all(operations.map(write));
    failed ??= answers.find((answer) => !answer.ok);
    // A failed Item does not hold up the other Items. If all of them fail, the cause is D1 or the vault.
    if (!answers.some((answer) => answer.ok)) break;
  }
  if (failed) return failed;
  return versions && next === undefined ? map(await recordVersionsKept(store, vault), () => next) : ok(next);
}
