import { FAILURE_KINDS } from "../../src/model/failure.ts";
import { JOB_KINDS, JOB_STATES } from "../../src/model/job.ts";
import type { Schema } from "../types.ts";
import { arrayOf, closed, integer, open, ref, words } from "./shapes.ts";

/** Long jobs (contract 26). */

export const jobSchemas: Readonly<Record<string, Schema>> = {
  NewJob: open("A job to start (contract 26.2).", { kind: words("What the job does.", JOB_KINDS) }, ["kind"]),
  Job: closed(
    "A job (contract 26.1).",
    {
      id: ref("Uuid"),
      kind: words("What the job does.", JOB_KINDS),
      state: words("Whether it has begun, and how it ended.", JOB_STATES),
      progress: closed("How far it is, in units of its kind.", {
        done: integer("What is done.", 0),
        total: integer("What is to be done, as far as it is known.", 0),
      }),
      findings: { ...arrayOf(ref("Finding")), description: "The first 100 findings." },
      createdAt: { type: "string", format: "date-time" },
      endedAt: { type: "string", format: "date-time", description: "Absent until it has ended." },
      reason: words("Why it failed, or why its last step is tried again; otherwise absent.", FAILURE_KINDS),
    },
    ["endedAt", "reason"],
  ),
};
