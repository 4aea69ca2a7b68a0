import { json, plainText } from "../content.ts";
import { adminHealth, health } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** The state of the service (contract 13.1 to 13.4). */

const tag = "Service";

export const serviceDescriptions = {
  getHeartbeat: {
    tag,
    summary: "Check that the service runs",
    description: "Answers `.` while the service runs (contract 13.1).",
    answers: { 200: { description: "The service runs.", content: plainText("Always a dot.", ".") } },
  },
  getHealth: {
    tag,
    summary: "Check what the service depends on",
    description:
      "The status is 200 also when a dependency has an error. A report is reused for up to 5 seconds (contract 13.2, 13.3). " +
      "`/v1/heartbeat` and `/v1/health` are other names of the two paths (contract 13.1).",
    answers: { 200: { description: "The report.", content: json("Health", health) } },
  },
  getAdminHealth: {
    tag,
    summary: "Check what the service depends on, with figures",
    description: "The report of `/health`, with what only the admin may know: how full the database is (contract 13.3).",
    answers: { 200: { description: "The report.", content: json("AdminHealth", adminHealth) } },
  },
  getMetrics: {
    tag,
    summary: "Read the metrics",
    description: "The families are listed in contract 13.4. Without the secret `METRICS_TOKEN` the path does not exist.",
    answers: {
      200: {
        description: "The metrics.",
        content: plainText("The text format of Prometheus, version 0.0.4.", "item_vault_items 1134\n"),
      },
    },
  },
} satisfies Partial<Descriptions>;
