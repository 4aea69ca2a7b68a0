import * as z from "zod/mini";
import { JOB_KINDS, JOB_STATES } from "../../../model/job.ts";
import { EXISTING } from "../../../model/restore.ts";
import { anyJob, jobInputs } from "../../job-bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { arrayOf, closed, integer, ref, words } from "./shapes.ts";

/** Long jobs (contract 26). */

/** The attributes of a request for any kind. Each kind refuses the attributes of other kinds. */
const newJob = z.strictObject({
  ...anyJob.shape,
  ...z.partial(
    z.object({
      ...jobInputs.backup.shape,
      ...jobInputs.verify.shape,
      ...jobInputs.restore.shape,
    }),
  ).shape,
});

const restored = closed(
  "What a `restore` has restored, or with `dryRun` would restore (contract 21.20).",
  {
    snapshot: integer("The number of the snapshot: of `vault`, or of the registry.", 1),
    takenAt: ref("Time", "When it was made."),
    deployment: { type: "string", description: "The deployment that it is of." },
    skipped: arrayOf(ref("SkippedSnapshot"), {
      description: "Only without `vault`: newer snapshots that are not authentic, or have no vaults (contract 21.25).",
    }),
    existing: words("Only with `vault`: what the database had of it, or of `item`, compared with the snapshot.", EXISTING),
    room: { type: "boolean", description: "Only with `dryRun`, not of an Item: whether the database has room for the rows." },
    vaults: integer("The vaults that were restored.", 0),
    items: integer("Their Items; 1, when one Item was.", 0),
    kept: integer("The existing vaults, which stay unchanged.", 0),
    leftOut: integer("The vaults that could not be restored: `findings` name them.", 0),
  },
  ["snapshot", "takenAt", "deployment", "skipped", "existing", "room"],
);

export const jobSchemas: Readonly<Record<string, Schema>> = {
  NewJob: body("A job to start (contract 26.2). A `rewrap` has no attributes besides `kind`.", newJob, {
    kind: "What the job does.",
    vault: "Only this vault; absent: the whole deployment.",
    full: "Of a `backup`: every part is written, and every content looked for (contract 21.4).",
    dryRun: "Of a `restore`: it tells what it would do, and changes nothing.",
    quick: "Of a `verify`: contents of Files are only looked for, and not read.",
    backup: "The backups are checked, and not what the service serves (contract 22.6).",
    item: "Only this Item of `vault` is restored (contract 21.28).",
    snapshot: "The snapshot to restore; by default the newest (contract 21.20).",
    overwrite: "A `vault` or Item that is newer than the snapshot may be replaced (contract 21.23).",
    repair: "What can be repaired is repaired (contract 22.5).",
    acceptLoss:
      "The repair takes rows that are missing out of the counts of `vault`, or without it of what belongs to no vault (contract 22.5).",
  }),
  Job: closed(
    "A job (contract 26.1).",
    {
      id: ref("Uuid"),
      kind: words("What the job does.", JOB_KINDS),
      dryRun: {
        type: "boolean",
        const: true,
        description: "Of a `restore` that only tells what it would do; otherwise absent.",
      },
      state: words("Whether it has begun, and how it ended.", JOB_STATES),
      progress: closed("The progress, in units of the kind.", {
        done: integer("What is done.", 0),
        total: integer("What is to be done, as far as it is known.", 0),
      }),
      result: closed(
        "What the kind tells besides; absent before it is known.",
        {
          checked: closed("How much a `verify` has checked.", {
            rows: integer("Rows of the database or of a backup.", 0),
            items: integer("Items.", 0),
            contents: integer("Contents of Files.", 0),
            bytes: integer("Sealed bytes.", 0),
          }),
          backup: closed(
            "What a `backup` has made (contract 21.1).",
            {
              snapshot: integer("The number of the snapshot of `vault`, or of the registry; absent before it is written.", 1),
              made: integer("The vaults that got a snapshot.", 0),
              unchanged: integer("The vaults that are as their newest snapshot has them.", 0),
              behind: integer("The vaults that were left out, because their backups failed.", 0),
              rows: integer("The rows of the snapshots.", 0),
              bytes: integer("The bytes of the snapshots.", 0),
              contents: integer("The contents of Files that were looked for.", 0),
            },
            ["snapshot"],
          ),
          restored,
        },
        ["checked", "backup", "restored"],
      ),
      findings: { ...arrayOf(ref("Finding")), description: "The first 100 findings." },
      createdAt: { type: "string", format: "date-time" },
      endedAt: { type: "string", format: "date-time", description: "Absent until it has ended." },
      reason: ref("ErrorKind", "Why it failed, or why its last step is tried again; otherwise absent."),
      tries: integer("How often the step was begun that is tried again; otherwise absent.", 0),
    },
    ["dryRun", "result", "endedAt", "reason", "tries"],
  ),
};
