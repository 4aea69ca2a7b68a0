import { DurableObject } from "cloudflare:workers";
import { logFailure } from "../log.ts";
import type { ContentPlace } from "../model/file.ts";
import { LIMITS } from "../model/limits.ts";
import { type Answer, type Operation, OPERATION_FORMAT } from "../model/operation.ts";
import { fail, type Result } from "../model/result.ts";
import { HOUR, MINUTE, SECOND } from "../model/time.ts";
import * as pending from "../store/contents/pending.ts";
import { sweep, type Swept } from "../store/contents/sweep.ts";
import { migrateCoordinator } from "../store/coordinator-schema.ts";
import { openStore } from "../store/database.ts";
import { createRowCache } from "../store/write/cache.ts";
import { deleteRows } from "../store/write/deleted-vaults.ts";
import { foldTitles } from "../store/write/folded-titles.ts";
import { commitGroup } from "./group.ts";
import { committedContents, databasePorts } from "./ports.ts";
import { createQueue } from "./queue.ts";

/** A group holds its Items in memory, sealed and opened, before and after: 32 of 512 KiB may take 80 MiB of the 128. */
const GROUP = 32;

/** A group also holds the bodies of its operations, parsed: four of the largest, or 32 of 128 KiB. */
const GROUP_BYTES = 4 * LIMITS.body;

/** Characters of sealed text in the cache: a thousand ordinary Items. Vaults that share an isolate share its memory. */
const CACHED = 1024 * 1024;

/** Milliseconds until the alarm deletes rows of a deleted vault: the answer to the deletion goes out first. */
const SOON = SECOND;

/** Milliseconds until the alarm tries again after D1 has failed. */
const LATER = MINUTE;

/**
 * The Durable Object of one vault. Every write to the vault goes through it, which puts the writes in one order. Its only
 * durable state is the list of pending contents; its cache only saves a D1 call. So a coordinator that was restarted
 * continues without loss. Two coordinators of one vault at the same time cost retries, not writes: see
 * store/write/fence.ts and docs/consistency.md.
 *
 * During a deployment, Workers of one release call coordinators of another: the names `write` and `expect` stay.
 */
export class VaultCoordinator extends DurableObject<Env> {
  readonly #cache = createRowCache(CACHED);
  readonly #queue = createQueue<Operation, Result<Answer>>({
    commit: (group) => this.#commit(group),
    busy: fail("busy"),
    failed: (error) => {
      logFailure("A commit", error);
      return fail("internal");
    },
    waiting: LIMITS.waitingWrites,
    waitingBytes: LIMITS.waitingBytes,
    group: GROUP,
    groupBytes: GROUP_BYTES,
  });

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrateCoordinator(ctx.storage.sql);
  }

  /**
   * Carries out one write. Sent again with the same id, it takes effect once. Errors: `version_skew`, when the operation
   * has a format that a later release introduced.
   */
  async write(operation: Operation): Promise<Result<Answer>> {
    return (operation.format ?? OPERATION_FORMAT) > OPERATION_FORMAT ? fail("version_skew") : this.#queue.submit(operation);
  }

  /** Records a content before its upload. The commit of its row deletes the record, else the alarm sweeps it after a day. */
  expect(place: ContentPlace): Promise<void> {
    pending.recordUpload(this.ctx.storage.sql, place, Date.now());
    return this.#setAlarm();
  }

  /** Indexes a slice of the titles of the vault. Out: whether titles are left. Errors: those of `foldTitles`. */
  async foldTitles(vault: string): Promise<Result<boolean>> {
    const store = await openStore(this.env, Date.now());
    return store.ok ? foldTitles(store.value, vault) : store;
  }

  /**
   * Deletes rows of the vault when that was deleted; then it sweeps the pending contents that are due. After an error they are
   * due again in an hour.
   */
  override async alarm(): Promise<void> {
    const delay = await this.#deleteRows();
    // Not while rows are left: with a retention of 0 the sweep deletes the record that names the vault.
    if (delay !== undefined) return this.ctx.storage.setAlarm(Date.now() + delay);
    const { sql } = this.ctx.storage;
    const due = pending.listDue(sql, Date.now());
    const swept = due.length > 0 ? await this.#sweep(due) : [];
    for (const { record, next } of swept) pending.updateRecord(sql, record, next);
    await this.#setAlarm();
  }

  /** Out: milliseconds until the next slice; `undefined` when no rows are left. */
  async #deleteRows(): Promise<number | undefined> {
    const vault = pending.deletedVault(this.ctx.storage.sql);
    if (vault === undefined) return undefined;
    const left = await deleteRows(this.env.DB, vault);
    if (!left.ok) return LATER;
    return left.value ? SOON : undefined;
  }

  async #sweep(records: readonly pending.PendingRecord[]): Promise<readonly Swept[]> {
    try {
      const store = await openStore(this.env, Date.now());
      const swept = store.ok ? await sweep(store.value, this.env.FILES, records) : store;
      if (swept.ok) return swept.value;
    } catch (error) {
      logFailure("R2", error);
    }
    const until = Date.now() + HOUR;
    return records.map((record) => ({ record, next: pending.postponed(record, until) }));
  }

  async #commit(group: readonly Operation[]): Promise<readonly Result<Answer>[]> {
    const store = await openStore(this.env, Date.now());
    if (!store.ok) return group.map(() => store);
    const { fileRetention } = store.value.settings;
    const { sql } = this.ctx.storage;
    const ports = databasePorts(store.value, this.#cache, {
      recordReleased: async ({ vault, after, released }) => {
        const contents = after ? released.map(pending.pendingContent) : [pending.pendingVault(vault)];
        if (contents.length === 0) return;
        pending.recordReleased(sql, contents, Date.now(), fileRetention);
        await this.#setAlarm();
      },
      deleteCommitted: (commit) => {
        pending.deleteCommitted(sql, committedContents(commit));
        return commit.after ? undefined : this.ctx.storage.setAlarm(Date.now() + SOON);
      },
      clock: () => Date.now(),
    });
    return commitGroup(ports, group);
  }

  /** Sets the alarm for the next sweep, unless it is set for an earlier time. */
  async #setAlarm(): Promise<void> {
    const { storage } = this.ctx;
    const next = pending.nextSweep(storage.sql);
    if (next === undefined) return;
    const alarm = await storage.getAlarm();
    if (alarm === null || next < alarm) await storage.setAlarm(next);
  }
}
