import { DurableObject } from "cloudflare:workers";
import { failedBy } from "../log.ts";
import type { ContentAddress } from "../model/file.ts";
import { LIMITS } from "../model/limits.ts";
import { type Answer, type Operation, OPERATION_FORMAT } from "../model/operation.ts";
import { fail, type Refusal, type Result } from "../model/result.ts";
import type { VerifyAnswer, VerifyRequest } from "../model/verify.ts";
import type { AttemptRequest, RecordedAttempt, Webhook, WebhookRequest } from "../model/webhook.ts";
import * as pending from "../store/contents/pending.ts";
import { COORDINATOR_MIGRATIONS, migrateObject } from "../store/d1/object-schema.ts";
import { openStore, type Store } from "../store/d1/database.ts";
import type { RestoreContents } from "../store/restore/ports.ts";
import { createRowCache } from "../store/commit/cache.ts";
import { type AlarmContext, runAlarm, setAlarm } from "./alarm.ts";
import { commitOperations } from "./commit.ts";
import { type Expiry, expireItems } from "./expiry.ts";
import { acceptListener } from "./listeners.ts";
import { drawRandom, webhookPorts } from "./ports.ts";
import { createQueue, createTurns } from "./queue.ts";
import { type ResealRequest, type ResealStep, resealVault } from "./reseal.ts";
import { answerVerify, prepareRestore } from "./maintenance.ts";
import { answerWebhooks } from "./webhooks/admin.ts";
import { answerAttempts } from "./webhooks/attempts.ts";

/** A group holds its Items in memory, sealed and opened, before and after: 32 of 512 KiB may take 80 MiB of the 128. */
const GROUP_OPERATIONS_MAX = 32;

/** A group also holds the bodies of its operations, parsed: four of the largest, or 32 of 128 KiB. */
const GROUP_BYTES_MAX = 4 * LIMITS.body;

/** Characters of sealed text in the cache: a thousand ordinary Items. Vaults that share an isolate share its memory. */
const CACHED_CHARACTERS_MAX = 1024 * 1024;

/** How long commits are spaced after a call of `spaceCommits`: each pass of a backup sends one. */
const SPACED_MS = 10_000;

const clock = () => Date.now();

/**
 * The Durable Object of one vault. Every write to the vault goes through it, which puts the writes in one order. Its durable
 * state is the list of pending contents and the progress of the webhooks; its cache only saves a D1 call. So a coordinator that
 * was restarted continues without loss. Two coordinators of one vault at the same time cost retries, not writes: see
 * store/commit/fence.ts and docs/consistency.md.
 *
 * During a deployment, Workers of one release call coordinators of another: the names of the methods stay.
 */
export class VaultCoordinator extends DurableObject<Env> {
  readonly #cache = createRowCache(CACHED_CHARACTERS_MAX);
  /** Until when some time passes between commits: Unix milliseconds. */
  #spacedUntil = 0;
  readonly #turn = createTurns(); // of commits and the slices of a reseal: each would refuse the other
  readonly #sweepTurn = createTurns(); // of sweeps of contents, and steps of a restore
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
   * Carries out one write. Sent again with the same id, it takes effect once. Errors: `version_skew`, when the operation
   * has a format that a later release introduced.
   */
  async write(operation: Operation): Promise<Result<Answer>> {
    return operation.format > OPERATION_FORMAT ? fail("version_skew") : this.#queue.submit(operation);
  }

  /** Expires some of what the vault keeps, for a job. Out: where the next call begins (expiry.ts). */
  async expire(expiry: Expiry): Promise<Result<string | undefined>> {
    return this.#withStore((store) => expireItems(store, expiry, drawRandom, (operation) => this.write(operation)));
  }

  /** Records a content before its upload. The commit of its row deletes the record, else the alarm sweeps it after a day. */
  expect(address: ContentAddress): Promise<void> {
    pending.recordUpload(this.ctx.storage.sql, address, clock());
    return setAlarm(this.ctx.storage);
  }

  /** Records contents that the cron trigger has found without a row: the alarm sweeps them. Out: how many had no record. */
  async watchContents(keys: readonly string[]): Promise<number> {
    const recorded = pending.recordWithoutRow(this.ctx.storage.sql, keys, clock());
    await setAlarm(this.ctx.storage);
    return recorded;
  }

  /** Makes ready for a step of a restore, also of this vault's first one: see maintenance.ts. Errors: `misconfigured`. */
  prepareRestore(contents: RestoreContents): Promise<Result<undefined>> {
    this.#cache.update(undefined);
    return prepareRestore(this.#alarmContext(), contents, clock);
  }

  /** Answers a request of the admin about webhooks. Sent again with the same id, it takes effect once. Errors: see webhooks/admin.ts. */
  webhooks(vault: string, request: WebhookRequest): Promise<Result<readonly Webhook[]>> {
    return this.#withStore(async (store) => {
      const answer = await answerWebhooks(webhookPorts(this.ctx.storage.sql, store, clock), vault, request);
      await setAlarm(this.ctx.storage);
      return answer;
    });
  }

  /** Lists the attempts to deliver to a webhook, or sends a test to it. Errors: see webhooks/attempts.ts. */
  webhookAttempts(vault: string, request: AttemptRequest): Promise<Result<readonly RecordedAttempt[]>> {
    return this.#withStore((store) => answerAttempts(webhookPorts(this.ctx.storage.sql, store, clock), vault, request));
  }

  /** Seals rows of the vault again under new keys. May be called again at any time. Errors: see reseal.ts. */
  reseal(request: ResealRequest): Promise<Result<ResealStep>> {
    const write = (operation: Operation) => this.write(operation);
    return this.#withStore((store) =>
      resealVault({ store, cache: this.#cache, turn: this.#turn, write, random: drawRandom }, request),
    );
  }

  /** Answers `verify`: see maintenance.ts. */
  verify(vault: string, request: VerifyRequest): Promise<Result<VerifyAnswer>> {
    const write = (operation: Operation) => this.write(operation);
    const context = { storage: this.ctx.storage, cache: this.#cache, turn: this.#turn, write };
    return this.#withStore((store) => answerVerify({ ...context, store }, vault, request));
  }

  /** Lets some time pass between the commits of the next seconds, so that a backup can read what changes. No write is refused for it. */
  async spaceCommits(): Promise<void> {
    this.#spacedUntil = clock() + SPACED_MS;
  }

  /** Accepts the WebSocket of a Worker that waits for events. */
  override fetch(request: Request): Response {
    return acceptListener(this.ctx, request);
  }

  override alarm(): Promise<void> {
    return runAlarm(this.#alarmContext());
  }

  #alarmContext(): AlarmContext {
    return { storage: this.ctx.storage, env: this.env, sweepTurn: this.#sweepTurn };
  }

  /** Errors: `misconfigured`, and those of `answer`. */
  async #withStore<R extends Result<unknown>>(answer: (store: Store) => Promise<R>): Promise<R | Refusal> {
    const store = await openStore(this.env, Date.now());
    return store.ok ? answer(store.value) : store;
  }

  #commit(group: readonly Operation[]): Promise<readonly Result<Answer>[]> {
    const webSockets = () => this.ctx.getWebSockets();
    return commitOperations({ ...this.#alarmContext(), cache: this.#cache, webSockets, clock }, group);
  }
}
