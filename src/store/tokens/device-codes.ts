import { network } from "../../model/network.ts";
import { createConsoleSecret } from "../../crypto/console-secret.ts";
import { keyedIndex } from "../../crypto/keyed-index.ts";
import type { RootKey } from "../../crypto/keyring.ts";
import { open, seal } from "../../crypto/seal.ts";
import type { VerifiedClaims } from "../../crypto/token.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, must, ok, type Result } from "../../model/result.ts";
import { SECOND } from "../../model/time.ts";
import type { Take } from "../d1/calls.ts";
import { refusalOfWrite, runBatch, type Store } from "../d1/database.ts";
import { type RowOf, TABLES } from "../tables/tables.ts";
import type { LoginRequest } from "./logins.ts";

/**
 * The devices that wait for a login (contract 28.5, RFC 8628). A row is found by the hash of the device code, or by the blind index of the
 * user code. What it holds is sealed and bound to its id, so whoever writes to D1 cannot confirm a login.
 */

/** A device that waits, as the person sees it before confirming. */
export interface Device extends LoginRequest {
  readonly address: string;
  /** What the device says of itself. */
  readonly program: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

interface Contents extends Device {
  readonly userCode: string;
  /** Who has confirmed. */
  readonly person?: VerifiedClaims;
}

type Row = RowOf<"device_codes">;

/** SQL: whether nobody else than the person ?3 has confirmed the row, which is live at ?2 and has one of the user codes ?1. */
const WAITING = "(person_id IS NULL OR person_id = ?3) AND user_code IN (SELECT value FROM json_each(?1)) AND expires_at > ?2";

const SQL = {
  clean: "DELETE FROM device_codes WHERE expires_at <= ?1 RETURNING id",
  /** One statement, so that of several requests for the last place D1 lets one insert its row. */
  insert: `
    INSERT INTO device_codes (id, user_code, address, expires_at, polled_at, root_key_id, sealed)
    SELECT ?1, ?2, ?3, ?4, 0, ?5, ?6
    WHERE (SELECT count(*) FROM device_codes) < ${LIMITS.devices}
      AND (SELECT count(*) FROM device_codes WHERE address = ?3) < ${LIMITS.devicesOfAddress}
    ON CONFLICT DO NOTHING RETURNING id`,
  /** Of several requests with one device code, one gets the row. */
  take: "DELETE FROM device_codes WHERE id = ?1 AND person_id IS NOT NULL RETURNING *",
  load: "SELECT * FROM device_codes WHERE id = ?1",
  poll: "UPDATE device_codes SET polled_at = ?2 WHERE id = ?1 AND polled_at <= ?3",
  find: `SELECT * FROM device_codes WHERE ${WAITING}`,
  /** One person confirms, who may repeat it: an answer may be lost. */
  confirm:
    "UPDATE device_codes SET person_id = ?2, sealed = ?3 WHERE id = ?1 AND (person_id IS NULL OR person_id = ?2) RETURNING id",
  fault: `
    UPDATE sessions SET tries = min(max(tries, 0), 9007199254740990) + 1
    WHERE id = ?4 AND NOT EXISTS (SELECT 1 FROM device_codes WHERE ${WAITING})`,
  end: `DELETE FROM sessions WHERE id = ?1 AND tries >= ${LIMITS.userCodeTries} RETURNING id`,
};

const sealDevice = (root: RootKey, id: string, contents: Contents): Promise<string> =>
  seal(root.registry, { ...TABLES.device_codes.associatedData.sealed("", { id }), key: root.id }, JSON.stringify(contents));

/** Out: `undefined` for a row that does not open: then no device waits. */
async function openDevice({ keyring }: Store, row: Row | undefined): Promise<Contents | undefined> {
  const root = row && keyring.keys.get(row.root_key_id);
  if (!root) return undefined;
  const associatedData = { ...TABLES.device_codes.associatedData.sealed("", { id: row.id }), key: root.id };
  const text = await open(root.registry, associatedData, row.sealed);
  return text.ok ? (JSON.parse(text.value) as Contents) : undefined;
}

const isLive = ({ createdAt }: Device, { now, settings }: Store): boolean =>
  now < createdAt + LIMITS.deviceCode * SECOND && createdAt >= settings.tokensNotBefore * SECOND;

/**
 * Lets a device wait, in one D1 call. Out: the device code. Errors: `rate`, when too many wait, of this address or in all; `unavailable`,
 * `database_full`.
 */
export async function insertDevice(store: Store, device: Omit<Device, "createdAt">, userCode: string): Promise<Result<string>> {
  const { db, keyring, now } = store;
  const root = keyring.active;
  const { id, text } = await createConsoleSecret(keyring, "device-code");
  const sealed = await sealDevice(root, id, { ...device, createdAt: now, userCode });
  const index = await keyedIndex(root, "user-code-index", userCode);
  const address = await keyedIndex(root, "address-index", network(device.address));
  const done = await runBatch<[never, { id: string }]>(
    db,
    db.prepare(SQL.clean).bind(now),
    db.prepare(SQL.insert).bind(id, index, address, now + LIMITS.deviceCode * SECOND, root.id, sealed),
  );
  if (!done.ok) return done;
  return done.value[1].length > 0 ? ok(text) : fail("rate");
}

/** A login that a person has confirmed. */
export interface ConfirmedDevice extends Device {
  readonly person: VerifiedClaims;
}

/**
 * Takes a device that a person has confirmed, in one D1 call. In: the id of the device code. Errors: `authorization_pending`, `slow_down`;
 * `expired_token`, also for one that was taken; `unavailable`.
 */
export async function takeDevice(store: Store, id: string): Promise<Result<ConfirmedDevice>> {
  const { db, now } = store;
  const done = await runBatch<[Row, Row, never]>(
    db,
    db.prepare(SQL.take).bind(id),
    db.prepare(SQL.load).bind(id),
    db.prepare(SQL.poll).bind(id, now, now - LIMITS.devicePoll * SECOND),
  );
  if (!done.ok) return refusalOfWrite(done);
  const [[taken], [waiting]] = done.value;
  const device = await openDevice(store, taken ?? waiting);
  if (!device || !isLive(device, store)) return fail("expired_token");
  if (!taken) return fail(waiting!.polled_at > now - LIMITS.devicePoll * SECOND ? "slow_down" : "authorization_pending");
  const { person } = device;
  return person ? ok({ ...device, person }) : fail("expired_token");
}

/** A device that waits, and its row. */
export interface FoundDevice {
  readonly device: Device;
  /** Whether the person who asks has confirmed it, as they are now. */
  readonly confirmed: boolean;
  readonly row: Row;
}

/** Who types a user code. */
export interface Typing {
  readonly person: VerifiedClaims;
  /** The id of the session. */
  readonly session: string;
}

/**
 * The device of a user code, in one D1 call: one that nobody else has confirmed. A code that no device waits for counts for the session,
 * which the fifth ends. Out: `undefined` for such a code. Errors: `unauthorized`, when it has ended the session; `unavailable`.
 */
export async function findDevice(
  store: Store,
  userCode: string,
  { person, session }: Typing,
): Promise<Result<FoundDevice | undefined>> {
  const { db, keyring, now } = store;
  const indexes = JSON.stringify(
    await Promise.all(Array.from(keyring.keys.values(), (root) => keyedIndex(root, "user-code-index", userCode))),
  );
  const found = await runBatch<[Row, never, { id: string }]>(
    db,
    db.prepare(SQL.find).bind(indexes, now, person.id),
    db.prepare(SQL.fault).bind(indexes, now, person.id, session),
    db.prepare(SQL.end).bind(session),
  );
  if (!found.ok) return found;
  const [[row], , ended] = found.value;
  const device = await openDevice(store, row);
  if (row && device && isLive(device, store)) return ok({ device, row, confirmed: device.person?.hash === person.hash });
  return ended.length > 0 ? fail("unauthorized") : ok(undefined);
}

/** Confirms the login of a device, in one D1 call. Out: whether the device still waits. Errors: `unavailable`, `database_full`. */
export async function confirmDevice(store: Store, { row }: FoundDevice, person: VerifiedClaims): Promise<Result<boolean>> {
  const { db, keyring } = store;
  const contents = await openDevice(store, row);
  const root = keyring.keys.get(row.root_key_id);
  if (!contents || !root) return ok(false);
  const sealed = await sealDevice(root, row.id, { ...contents, person });
  const done = await runBatch<[{ id: string }]>(db, db.prepare(SQL.confirm).bind(row.id, person.id, sealed));
  return done.ok ? ok(done.value[0].length > 0) : done;
}

/**
 * Deletes the rows of devices that wait no more: there are never more than one call deletes. In: Unix milliseconds, and what gives a call.
 * Out: how many. Throws when D1 fails.
 */
export async function deleteExpiredDevices(db: D1Database, now: number, take: Take): Promise<number> {
  if (!take(1)) return 0;
  const done = await runBatch<[{ id: string }]>(db, db.prepare(SQL.clean).bind(now));
  return must("delete expired device codes", done)[0].length;
}
