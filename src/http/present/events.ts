import type { Presented, Schemas } from "../../api/answer.ts";
import { type Dialect, writeId } from "../../model/dialect.ts";
import type { VaultEvent } from "../../model/event.ts";
import { writeActor } from "./activity.ts";
import { presentTime } from "./time.ts";

/** Presents an event (contract 15.2) in the dialect of the token. */
export const presentEvent = (
  { sequence, type, item, version, actor, at }: VaultEvent,
  dialect: Dialect,
): Presented<Schemas.Event> => ({
  sequence,
  type,
  item: item === null ? undefined : writeId(item, dialect),
  version: version ?? undefined,
  actor: writeActor(actor, dialect),
  at: presentTime(at),
});

/** Presents an event of one among several vaults. */
export const presentVaultEvent = (vault: string, event: VaultEvent, dialect: Dialect): Presented<Schemas.VaultEvent> => ({
  ...presentVaultId(vault, dialect),
  ...presentEvent(event, dialect),
});

/** Presents a notice about a whole vault (contract 15.8). */
export const presentVaultId = (vault: string, dialect: Dialect): Presented<Schemas.VaultNotice> => ({
  vault: writeId(vault, dialect),
});
