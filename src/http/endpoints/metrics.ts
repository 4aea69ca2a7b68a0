import { fail, ok, type Result } from "../../model/result.ts";
import { countFailure } from "../../requests/rate-limit.ts";
import { parseSettings } from "../../settings.ts";
import { databaseSize } from "../../store/d1/size.ts";
import { ENDING_HELP, loadMetrics, type Metrics } from "../../store/health/metrics.ts";
import { addressOf, type Context } from "../context.ts";
import type { Content } from "../route.ts";
import { isSecret } from "../secret.ts";

/** /metrics, in the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats). */

/** Returns the metrics. The secret `METRICS_TOKEN` guards the route. Without the secret the route does not exist: see app.ts. */
export async function getMetrics(c: Context): Promise<Result<Content<never>>> {
  const allowed = await isSecret(c, c.env.METRICS_TOKEN);
  if (!allowed.ok) return allowed;
  if (!allowed.value) return countFailure(c.env, addressOf(c), fail("unauthorized"));
  const loaded = await loadMetrics(c.env.DB, Date.now());
  if (!loaded.ok) return loaded;
  const settings = parseSettings(c.env);
  const limit = settings.ok ? settings.value.databaseLimit : undefined;
  const headers = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" };
  return ok({ response: c.text(presentMetrics({ ...loaded.value, size: databaseSize(), limit }), 200, headers) });
}

type Sample = readonly [labels: string, value: number];

/** Bytes of the database. Absent if D1 has not reported its size, or if the setting is malformed. */
interface Sizes {
  readonly size: number | undefined;
  readonly limit: number | undefined;
}

type Figures = Metrics & Sizes;

const ACTIONS = ["CREATE", "UPDATE", "DELETE", "RESTORE", "DESTROY"];

const optional = (value: number | undefined): Sample[] => (value === undefined ? [] : [["", value]]);

const FAMILIES: readonly (readonly [name: string, type: string, help: string, samples: (figures: Figures) => Sample[]])[] = [
  ["vaults", "gauge", "Vaults that exist.", ({ vaults }) => [["", vaults]]],
  ["items", "gauge", "Items in all vaults.", ({ items }) => [["", items]]],
  ["items_deleted", "gauge", "Deleted Items that are kept.", ({ deleted }) => [["", deleted]]],
  ["files", "gauge", "Files of all Items.", ({ files }) => [["", files]]],
  [
    "file_bytes",
    "gauge",
    "Bytes of all contents, before sealing, also of those that only kept versions and deleted Items have.",
    ({ fileBytes }) => [["", fileBytes]],
  ],
  ["tokens", "gauge", "Tokens that are neither revoked nor expired.", ({ tokens }) => [["", tokens]]],
  ["vaults_deleting", "gauge", "Deleted vaults that still have rows.", ({ deleting }) => [["", deleting]]],
  ["database_bytes", "gauge", "Size of the database.", ({ size }) => optional(size)],
  ["database_limit_bytes", "gauge", "Limit of the database, DATABASE_LIMIT_MB.", ({ limit }) => optional(limit)],
  [
    "tokens_expiring",
    "gauge",
    "Tokens that expire within so many days.",
    ({ expiring }) => expiring.map(([days, count]) => [`{days="${days}"}`, count]),
  ],
  ["tokens_ending", "gauge", ENDING_HELP, ({ ending }) => [["", ending]]],
  [
    "next_token_expiry_timestamp_seconds",
    "gauge",
    "When the next token expires, in Unix seconds; absent without tokens.",
    ({ nextExpiry }) => (nextExpiry === undefined ? [] : [["", nextExpiry]]),
  ],
  [
    "last_backup_timestamp_seconds",
    "gauge",
    "When the last backup of everything was finished, in Unix seconds; absent without one.",
    ({ backups }) => optional(backups.at === undefined ? undefined : backups.at / 1000),
  ],
  ["backup_vaults", "gauge", "Vaults of the last backup.", ({ backups }) => [["", backups.vaults]]],
  [
    "backup_vaults_behind",
    "gauge",
    "Vaults that had changed and of which the last backup has no snapshot or an older one.",
    ({ backups }) => [["", backups.behind]],
  ],
  ["backup_bytes", "gauge", "Bytes of the rows of the last backup, without contents.", ({ backups }) => [["", backups.bytes]]],
  [
    "item_writes_total",
    "counter",
    "Writes to Items that took effect; a write to a File is an update.",
    ({ writes }) => ACTIONS.map((action) => [`{action="${action.toLowerCase()}"}`, writes[action] ?? 0]),
  ],
  [
    "damaged_read_timestamp_seconds",
    "gauge",
    "When data was last read that could not be decrypted, in Unix seconds; absent if never.",
    ({ damagedReadAt }) => optional(damagedReadAt),
  ],
];

function presentMetrics(counted: Figures): string {
  return FAMILIES.map(([name, type, help, samples]) => {
    const family = `item_vault_${name}`;
    const lines = samples(counted).map(([labels, value]) => `${family}${labels} ${value}\n`);
    return `# HELP ${family} ${help}\n# TYPE ${family} ${type}\n${lines.join("")}`;
  }).join("");
}
