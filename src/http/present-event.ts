import { type Dialect, writeId } from "../model/dialect.ts";
import type { VaultEvent } from "../model/event.ts";
import { ADMIN } from "../model/operation.ts";

/** An event (contract 15.2), in the dialect of the token. */
export const presentEvent = ({ sequence, type, item, version, actor, at }: VaultEvent, dialect: Dialect): object => ({
  sequence,
  type,
  item: item === null ? undefined : writeId(item, dialect),
  version: version ?? undefined,
  actor: actor === ADMIN ? ADMIN : writeId(actor, dialect),
  at: new Date(at).toISOString(),
});
