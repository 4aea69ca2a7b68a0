import { DurableObject } from "cloudflare:workers";
import { openKeyring } from "../crypto/keyring.ts";
import type { ContentPlace } from "../model/file.ts";
import { LIMITS } from "../model/limits.ts";
import type { Answer, Operation } from "../model/operation.ts";
import { fail, type Result } from "../model/result.ts";
import type { Commit } from "../store/commit.ts";
import { createMemory } from "../store/memory.ts";
import { report } from "../store/report.ts";
import {
  createWatchList,
  dueAt,
  nextDue,
  postpone,
  sweep,
  unwatch,
  watch,
  watchContent,
  type Watched,
  watchVault,
} from "../store/watch-list.ts";
import { commitGroup } from "./group.ts";
import { createQueue } from "./queue.ts";

/** A group holds its Items in memory, sealed and opened, before and after: 32 of 512 KiB may take 80 MiB of the 128. */
const GROUP = 32;

/** What is remembered, in characters of sealed text: a thousand ordinary Items. Vaults that share an isolate share its memory. */
const REMEMBERED = 1024 * 1024;

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

/**
 * The Durable Object of one vault: every write to the vault goes through it, and so has a place in one order.
 * It keeps only the list of contents that may be left over; what it remembers beside that saves it a D1 call, so whoever
 * takes its place after a restart knows as much. That there may be two of them for a while costs time, not writes: see the
 * fence in store/fence.ts.
 */
export class VaultCoordinator extends DurableObject<Env> {
  readonly #memory = createMemory(REMEMBERED);
  readonly #queue = createQueue<Operation, Result<Answer>>({
    commit: (group) => this.#commit(group),
    busy: fail("busy"),
    failed: (error) => {
      report("a commit", error);
      return fail("internal");
    },
    waiting: LIMITS.waitingWrites,
    waitingBytes: LIMITS.waitingBytes,
    group: GROUP,
  });

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    createWatchList(ctx.storage.sql);
  }

  /** Carries out one write. Sent again with the same id, it takes effect once. */
  write(operation: Operation): Promise<Result<Answer>> {
    return this.#queue.submit(operation);
  }

  /** Notes a content before it is uploaded: should its row never come, it is deleted after a day. */
  expect(place: ContentPlace): Promise<void> {
    return this.#watch([watchContent(place)], DAY);
  }

  /** Deletes the contents that are due and that no row holds. What cannot be looked at now is looked at in an hour. */
  override async alarm(): Promise<void> {
    const { sql } = this.ctx.storage;
    const due = dueAt(sql, Date.now());
    try {
      const swept = await sweep(this.env.DB, this.env.FILES, due);
      if (swept.ok) unwatch(sql, due);
      else postpone(sql, due, Date.now() + HOUR);
    } catch (error) {
      report("R2", error);
      postpone(sql, due, Date.now() + HOUR);
    }
    const next = nextDue(sql);
    if (next !== undefined) await this.ctx.storage.setAlarm(next);
  }

  async #commit(group: readonly Operation[]): Promise<readonly Result<Answer>[]> {
    const keyring = await openKeyring(this.env.ROOT_KEYS);
    if (!keyring.ok) return group.map(() => keyring);
    const store = { db: this.env.DB, keyring: keyring.value, now: Date.now() };
    return commitGroup(store, this.#memory, group, ({ vault, after, dropped }: Commit) =>
      this.#watch(after ? dropped.map(watchContent) : [watchVault(vault)], this.env.FILE_RETENTION_DAYS * DAY),
    );
  }

  async #watch(watched: readonly Watched[], milliseconds: number): Promise<void> {
    if (watched.length === 0) return;
    const { storage } = this.ctx;
    watch(storage.sql, watched, Date.now() + milliseconds);
    const alarm = await storage.getAlarm();
    const next = nextDue(storage.sql)!;
    if (alarm === null || next < alarm) await storage.setAlarm(next);
  }
}
