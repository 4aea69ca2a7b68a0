import * as z from "zod";
import { REGISTRY } from "../../model/backup.ts";
import { ADMIN } from "../../model/operation.ts";
import type { Restoration, RestoreRequest } from "../../model/restore.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { anyId, explain, optional } from "../../model/text.ts";
import { type BackupStore, withBuckets } from "../../store/backup/ports.ts";
import { isCount } from "../../store/vaults/rows.ts";
import type { RestorePorts } from "../../store/restore/ports.ts";
import { restoreSlice } from "../../store/restore/run.ts";
import { createRequestId } from "../../requests/request-id.ts";
import { originOf } from "../audit.ts";
import { prepareRestore } from "../coordinator.ts";
import { presentTime } from "../present/time.ts";
import { restoreItem } from "../restore-item.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** POST /v1/admin/restores: one slice of the restore of a vault, or of what belongs to no vault (contract 21.20). */

const request = z.object({
  vault: optional(anyId),
  item: optional(anyId),
  snapshot: optional(z.int("is not an integer").min(1, "is less than 1").max(99_999_999, "is more than 99999999")),
  overwrite: optional(z.boolean("is not true or false")),
  dryRun: optional(z.boolean("is not true or false")),
  cursor: optional(z.string("is not a string").regex(/^\d{1,8} \d{1,8}$/, "is not the next of an answer")),
});

interface Wanted extends RestoreRequest {
  /** One Item of the vault. */
  readonly item: string | undefined;
}

export const restore = {
  parse({ body }: ParseCall): Result<Wanted> {
    const input = request.safeParse(body!.json);
    if (!input.success) return invalid(explain(input.error, "the restore"));
    const { vault = REGISTRY, item, snapshot, overwrite = false, dryRun = false, cursor } = input.data;
    if (item !== undefined && vault === REGISTRY) return invalid("item: needs the vault");
    return ok({ vault, item, snapshot, overwrite, dryRun, cursor });
  },

  async handle(call: Call, wanted: Wanted): Promise<Result<Reply>> {
    const { c } = call;
    const buckets = withBuckets(call.store, c.env);
    if (!buckets.ok) return buckets;
    if (wanted.item !== undefined) return answerItem(call, buckets.value, wanted.item, wanted);
    const slice = await restoreSlice(portsOf(call, buckets.value, wanted.vault), wanted, () => Date.now());
    if (!slice.ok) return slice;
    const action = slice.value.state === "done" ? "CREATE" : "UNLOGGED";
    const made = wanted.vault === REGISTRY ? {} : { made: wanted.vault };
    return ok({ response: c.json(presentRestoration(slice.value)), action, ...made });
  },
};

function portsOf(call: Call, store: BackupStore, vault: string): RestorePorts {
  const { c } = call;
  const what = {
    log: vault,
    action: "CREATE",
    result: "SUCCESS",
    actor: ADMIN,
    item: null,
    version: null,
    event: "restored",
  } as const;
  return {
    store,
    backups: store.backups,
    files: store.files,
    prepare: (contents) => prepareRestore(call, vault, contents),
    entry: { id: createRequestId(Date.now()), ...what, origin: originOf(c) },
  };
}

function presentRestoration({ manifest, existing, state, done, total, findings, room, next, skipped }: Restoration): object {
  const { vault, number, at, deployment, parts, row, snapshots } = manifest;
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const about = { snapshot: number, takenAt: presentTime(at), deployment, state, done, total, rows, findings, room, next };
  if (vault === REGISTRY)
    return { ...about, skipped, vaults: (snapshots ?? []).map((one) => ({ id: one.vault, snapshot: one.number })) };
  const items = row!["items"] as number;
  return { ...about, vault: { id: vault }, existing, items: isCount(items) ? items : 0 };
}

async function answerItem(call: Call, store: BackupStore, item: string, wanted: RestoreRequest): Promise<Result<Reply>> {
  const restored = await restoreItem(call, store, item, wanted);
  if (!restored.ok) return restored;
  const { state } = restored.value;
  const done = state === "done" ? 1 : 0;
  const answer = presentRestoration({ ...restored.value, done, total: 1 });
  const made = wanted.vault;
  return ok({ response: call.c.json({ ...answer, item: { id: item } }), action: done ? "CREATE" : "UNLOGGED", made });
}
