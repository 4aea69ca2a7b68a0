import { ok, type Result } from "../../model/result.ts";
import { loadMetrics, type Metrics } from "../../store/metrics.ts";
import type { Context } from "../context.ts";
import { requireSecret } from "../secret.ts";

/** /metrics, in the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats). */

/** The secret `METRICS_TOKEN` guards it, where that is set. */
export async function metrics(c: Context): Promise<Result<Response>> {
  const { METRICS_TOKEN } = c.env as Env & { METRICS_TOKEN?: string };
  const refused = METRICS_TOKEN ? await requireSecret(c, METRICS_TOKEN) : undefined;
  if (refused) return refused;
  const loaded = await loadMetrics(c.env.DB, Date.now());
  if (!loaded.ok) return loaded;
  return ok(c.text(presentMetrics(loaded.value), 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }));
}

type Sample = readonly [labels: string, value: number];

const ACTIONS = ["CREATE", "UPDATE", "DELETE"];

const FAMILIES: readonly (readonly [name: string, type: string, help: string, samples: (metrics: Metrics) => Sample[]])[] = [
  ["vaults", "gauge", "Vaults that exist.", ({ vaults }) => [["", vaults]]],
  ["items", "gauge", "Items in all vaults.", ({ items }) => [["", items]]],
  ["files", "gauge", "Files of all Items.", ({ files }) => [["", files]]],
  ["file_bytes", "gauge", "Bytes of all Files, before sealing.", ({ fileBytes }) => [["", fileBytes]]],
  ["tokens", "gauge", "Tokens that are neither revoked nor expired.", ({ tokens }) => [["", tokens]]],
  [
    "item_writes_total",
    "counter",
    "Writes to Items that took effect; a write to a File is an update.",
    ({ writes }) => ACTIONS.map((action) => [`{action="${action.toLowerCase()}"}`, writes[action] ?? 0]),
  ],
];

function presentMetrics(counted: Metrics): string {
  return FAMILIES.map(([name, type, help, samples]) => {
    const family = `item_vault_${name}`;
    const lines = samples(counted).map(([labels, value]) => `${family}${labels} ${value}\n`);
    return `# HELP ${family} ${help}\n# TYPE ${family} ${type}\n${lines.join("")}`;
  }).join("");
}
