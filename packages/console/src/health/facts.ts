import type { AdminDependency as Dependency } from "@item-vault/client";
import { ENDING } from "@item-vault/model/ending";
import type { ViewName } from "../routes.ts";
import { plural } from "../ui/plural.ts";
import { formatFromNow } from "../ui/relative-time.ts";
import { formatSize } from "../ui/size.ts";
import { DAY_MS } from "../ui/time.ts";

/** The meaning of each part of a report of /health for a person, and the view for its remedy. */

export type Status = Dependency["status"];

interface FactRow {
  readonly title: string;
  /** The part of the report. Absent: all parts without their own row, including those of a newer release. */
  readonly part?: string;
  /** Returns a sentence for each status, from the best to the worst, or one about the part. */
  readonly textOf: (part: Dependency, now: number) => readonly [string, string, string] | string;
  readonly view?: ViewName;
}

const FACTS: readonly FactRow[] = [
  { title: "Backups", part: "backups", textOf: textOfBackups, view: "backups" },
  { title: "Storage", part: "capacity", textOf: textOfStorage, view: "vaults" },
  {
    title: "Root keys",
    part: "keys",
    textOf: ({ count }) => [
      "All vaults and tokens use the active key.",
      `${counted(count, "retired key is", "retired keys are")} still in use. Re-wrap all keys with the active root key.`,
      "A key is missing or wrong. Its data cannot be decrypted.",
    ],
    view: "keys",
  },
  {
    title: "Tokens",
    part: "tokens",
    textOf: ({ count }) => [
      "No long-lived tokens are about to expire.",
      `${counted(count, "token expires", "tokens expire")} within ${ENDING.within / DAY_MS} days. Replace them before then to avoid an outage.`,
      "The tokens that expire soon are unknown.",
    ],
    view: "tokens",
  },
  {
    title: "Stored data",
    part: "data",
    textOf: () => [
      "No damaged data was found in the last 24 hours.",
      "Damaged data was found in the last 24 hours. Run “Verify” to see it; a backup can restore it.",
      "Whether data is damaged is unknown.",
    ],
    view: "backups",
  },
  {
    title: "Jobs",
    part: "jobs",
    textOf: () => [
      "No job has failed.",
      "A job has failed or left something out. See the jobs for details.",
      "The state of the jobs is unknown.",
    ],
    view: "backups",
  },
  {
    title: "Service",
    textOf: ({ service }) => [
      "All components respond.",
      `${nameOfPart(service)}: see the warning in the technical report.`,
      `${nameOfPart(service)}: not working. See the technical report for the reason.`,
    ],
  },
];

/** Only the admin gets the number. */
const counted = (count: number | undefined, one: string, many: string): string =>
  count === undefined ? `Some ${many}` : plural(count, one, many);

function textOfBackups(part: Dependency, now: number): string {
  const { status, message, at } = part;
  if (isEmpty(part)) return "An administrator can make the first backup.";
  // The public report has no time, and says the same in words.
  if (at === undefined) return `${message}.`;
  const last = `The last backup was ${formatFromNow(at, now)}`;
  return status === "ACTIVE"
    ? `${last}.`
    : `${last}. It is late, incomplete or damaged: see the technical report for the reason.`;
}

function textOfStorage({ message, used, limit }: Dependency) {
  if (used === undefined || limit === undefined) return `${message}.`;
  const left = `${formatSize(Math.max(limit - used, 0))} of ${formatSize(limit)} free`;
  const only = `Only ${left}.`;
  return [`${left}.`, only, `${only} Writes that need more are refused: delete what you no longer need.`] as const;
}

/** The names of the parts in the technical report; a part of a newer release has the name of the API. */
const PARTS: Readonly<Record<string, string>> = {
  d1: "Database (D1)",
  schema: "Schema",
  capacity: "Capacity",
  r2: "Bucket (R2)",
  keys: "Root keys",
  tokens: "Tokens",
  coordinator: "Coordinator",
  queue: "Queue",
  "rate limits": "Rate limits",
  jobs: "Jobs",
  backups: "Backups",
  data: "Stored data",
  settings: "Settings",
};

export const nameOfPart = (service: string): string => PARTS[service] ?? service;

/** Returns true if a part works and is empty, which is not reported as good. */
export const isEmpty = ({ status, message }: Dependency): boolean => status === "ACTIVE" && message.startsWith("No backup yet");

/** From the best to the worst. */
const STATUSES: readonly Status[] = ["ACTIVE", "WARNING", "ERROR"];

export type Fact = Readonly<{ title: string; text: string; view: ViewName | undefined; part: Dependency }>;

/**
 * Returns the facts of a report, in the order of the table. Rows without a part in the report are left out. `now` is in Unix milliseconds.
 */
export function factsOf(parts: readonly Dependency[], now: number): Fact[] {
  const named = new Set(FACTS.map(({ part }) => part));
  return FACTS.flatMap(({ title, part: name, textOf, view }) => {
    const [part] = parts
      .filter(({ service }) => (name === undefined ? !named.has(service) : service === name))
      .toSorted((one, other) => STATUSES.indexOf(other.status) - STATUSES.indexOf(one.status));
    if (!part) return [];
    const texts = textOf(part, now);
    return [{ title, text: typeof texts === "string" ? texts : texts[STATUSES.indexOf(part.status)]!, view, part }];
  });
}

export function verdictOf(facts: readonly Fact[]): string {
  const wrong = facts.filter(({ part }) => part.status !== "ACTIVE").length;
  if (wrong > 0) return `${plural(wrong, "thing needs", "things need")} attention.`;
  const hasNoBackup = facts.some(({ part }) => part.service === "backups" && isEmpty(part));
  return hasNoBackup ? "Everything works, but nothing has been backed up." : "Everything is in order.";
}
