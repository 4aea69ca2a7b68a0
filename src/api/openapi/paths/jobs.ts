import { json, listOf, required } from "../content.ts";
import type { Descriptions } from "../operation.ts";
import { findingOfToken, job, newJob } from "../operations-examples.ts";

/** Long jobs (contract 26). */

const tag = "Admin: jobs";

export const jobDescriptions = {
  listJobs: {
    tag,
    summary: "List the jobs",
    description: "The newest first, at most 50 on a page (contract 26.4).",
    parameters: ["Limit", "Cursor"],
    answers: { 200: { description: "The jobs.", content: listOf("Job", [job]), headers: ["Link"] } },
    errors: ["invalid"],
  },
  createJob: {
    tag,
    summary: "Start a job",
    description: "The job goes on by itself (contract 26.2).",
    body: required(json("NewJob", newJob)),
    answers: { 202: { description: "The job.", content: json("Job", job) } },
    errors: [
      "vault_not_found",
      "backup_not_found",
      "backup_newer",
      "backup_damaged",
      "backup_too_new",
      "job_exists",
      "uncertain",
      "version_skew",
      "database_full",
    ],
  },
  getJob: {
    tag,
    summary: "Get a job",
    description: "With `wait` the answer comes when the job has ended, or after these seconds (contract 26.4).",
    parameters: ["JobWait"],
    answers: { 200: { description: "The job.", content: json("Job", job) } },
    errors: ["invalid"],
  },
  stopJob: {
    tag,
    summary: "Stop a job",
    description: "What it has done stays. A job that has ended stays as it is (contract 26.5).",
    answers: { 200: { description: "The job.", content: json("Job", job) } },
    errors: ["job_unstoppable", "uncertain"],
  },
  listJobFindings: {
    tag,
    summary: "List the findings of a job",
    description: "In the order in which they were found, at most 1,000 on a page (contract 26.4).",
    parameters: ["Cursor"],
    answers: { 200: { description: "The findings.", content: listOf("Finding", [findingOfToken]), headers: ["Link"] } },
    errors: ["invalid"],
  },
} satisfies Partial<Descriptions>;
