import { logRefusal } from "../log.ts";
import { startJob } from "../durable-object-calls.ts";
import type { Answer, Operation } from "../model/operation.ts";
import { ok, type Result } from "../model/result.ts";
import * as pending from "../store/contents/pending.ts";
import { openStore } from "../store/d1/database.ts";
import { bookmarkedDatabase } from "../store/d1/primary.ts";
import type { RowCache } from "../store/commit/cache.ts";
import { setAlarm } from "./alarm.ts";
import { commitGroup } from "./group.ts";
import { notifyListeners } from "./listeners.ts";
import { committedContents, databasePorts, webhookPorts } from "./ports.ts";
import { prepareDeletionNotices } from "./webhooks/deletion-notice.ts";
import { announceCommit } from "./webhooks/delivery.ts";

/** The parts of the coordinator that a commit uses. */
export interface CommitContext {
  readonly storage: DurableObjectStorage;
  readonly env: Env;
  readonly cache: RowCache;
  /** The WebSockets of the Workers that wait for events. */
  readonly webSockets: () => readonly WebSocket[];
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Commits a group of operations with what belongs to it in the coordinator's own storage: pending contents, webhooks, listeners and the
 * alarm. Out: one answer per operation, in order.
 */
export async function commitOperations(
  { storage, env, cache, webSockets, clock }: CommitContext,
  group: readonly Operation[],
): Promise<readonly Result<Answer>[]> {
  const store = await openStore(env, clock());
  if (!store.ok) return group.map(() => store);
  const bookmarked = bookmarkedDatabase(env.DB);
  const { fileRetention } = store.value.settings;
  const { sql } = storage;
  const forWebhooks = webhookPorts(sql, store.value, clock);
  const ports = databasePorts({ ...store.value, db: bookmarked.db }, cache, {
    recordReleased: async ({ vault, after, released }) => {
      if (!after) await prepareDeletionNotices(forWebhooks, vault);
      const contents = after ? released.map(pending.pendingContent) : [pending.pendingVault(vault)];
      if (contents.length === 0) return;
      pending.recordReleased(sql, contents, clock(), fileRetention);
      await setAlarm(storage);
    },
    deleteCommitted: (commit) => {
      notifyListeners(webSockets(), commit.after);
      pending.deleteCommitted(sql, committedContents(commit));
      // The answer to the deletion does not wait for it. When the call is lost, the hourly run starts the job.
      if (!commit.after) void startJob(env, "purge", true).then((started) => started.ok || logRefusal(started));
    },
    clock,
  });
  const answers = await commitGroup(ports, group);
  // An uncertain one may have taken effect.
  if (answers.some((answer) => answer.ok || answer.failure.kind === "uncertain")) await announceCommit(storage, clock());
  return answers.map((answer) => (answer.ok ? ok({ ...answer.value, bookmark: bookmarked.bookmark() }) : answer));
}
