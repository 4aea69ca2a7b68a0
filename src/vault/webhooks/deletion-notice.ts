import { logFailure, logRefusal } from "../../log.ts";
import { SECOND } from "../../model/time.ts";
import { errorOf } from "../../model/webhook.ts";
import {
  deleteProgress,
  findProgress,
  listProgress,
  type Progress,
  replaceProgress,
} from "../../store/events/webhook-progress.ts";
import { type DeletionNotice, loadWebhooks, openDeletionNotice, sealDeletionNotice } from "../../store/events/webhook-rows.ts";
import { deletionMessage } from "./message.ts";
import { inParallel, sendMessage } from "./send.ts";
import type { WebhookPorts } from "./ports.ts";
import { failed } from "./schedule.ts";

/**
 * The event `vault.deleted`. The deletion of a vault deletes its keys and the rows of its webhooks, so the coordinator keeps
 * in its own storage what the last message needs, sealed under the root key.
 */

/** Runs before the commit that deletes a vault. When it fails, the vault is deleted, and the receivers are not told. */
export async function prepareDeletionNotices(ports: WebhookPorts, vault: string): Promise<void> {
  try {
    await recordDeletionNotices(ports, vault);
  } catch (error) {
    logFailure("The record of a deletion notice", error);
  }
}

async function recordDeletionNotices({ sql, store, clock }: WebhookPorts, vault: string): Promise<void> {
  if (listProgress(sql).length === 0) return;
  const loaded = await loadWebhooks(store, vault);
  if (!loaded.ok) return logRefusal(loaded);
  const definitions = new Map(loaded.value.webhooks.map(({ id, definition }) => [id, definition]));
  for (const { id } of listProgress(sql)) {
    const definition = definitions.get(id);
    const deletionNotice = definition ? await sealDeletionNotice(store, vault, id, definition) : null;
    const progress = findProgress(sql, id);
    // The row of a deleted webhook keeps its time, because the deletion of the vault may fail.
    if (!progress || progress.state === "DELETED") continue;
    // The attempts for the last message are counted anew, and a delivery that has begun is not recorded: it would replace the row.
    const fresh = { failures: 0, failingSince: null, due: clock() + SECOND, revision: progress.revision + 1 };
    replaceProgress(sql, progress, { ...progress, ...fresh, deletionNotice, deletionNoticeAt: clock() });
  }
}

/** Sends the last message of each active webhook of a deleted vault, and deletes the rows. Tries for a day. */
export async function sendDeletionNotices(ports: WebhookPorts): Promise<void> {
  const { sql, clock } = ports;
  const rows = listProgress(sql).filter(({ failures, due }) => failures === 0 || due <= clock());
  await inParallel(rows, (progress) => sendDeletionNotice(ports, progress));
}

async function sendDeletionNotice(ports: WebhookPorts, progress: Progress): Promise<void> {
  const { sql, store, clock, random } = ports;
  const { id, vault, state, deletionNotice, deletionNoticeAt } = progress;
  if (deletionNoticeAt === null && state === "ACTIVE") {
    // The database may have been restored to a minute before the vault existed. Paused after a day.
    replaceProgress(sql, progress, failed(progress, { kind: "restored", at: clock() }, random()));
    return;
  }
  const target =
    deletionNotice === null || state !== "ACTIVE" ? undefined : await openDeletionNotice(store, vault, id, deletionNotice);
  const next = target?.ok ? await tryDeletionNotice(ports, progress, target.value) : undefined;
  if (next?.state === "ACTIVE") replaceProgress(sql, progress, next);
  else deleteProgress(sql, id);
}

/** Out: the progress after an attempt that failed. */
async function tryDeletionNotice(ports: WebhookPorts, progress: Progress, target: DeletionNotice): Promise<Progress | undefined> {
  const error = errorOf(await sendMessage(ports, target, await deletionMessage(progress, progress.deletionNoticeAt!)));
  return error && failed(progress, error, ports.random());
}
