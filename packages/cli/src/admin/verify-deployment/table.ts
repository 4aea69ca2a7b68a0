import { type Command, command, type Options } from "../../frame/command.ts";

/** Options of `admin verify-deployment`. */

export const VERIFY_DEPLOYMENT_OPTIONS = {
  release: { type: "string", value: "FILE", summary: "the release.json to compare with, by default that of the folder" },
  from: {
    type: "string",
    value: "FOLDER",
    summary: "the folder of the wrangler.toml: an unpacked release, or a checkout; by default as for `admin deploy`",
  },
  worker: { type: "string", value: "NAME", summary: "the name of the Worker, by default that of wrangler.toml" },
  format: { type: "string", value: "FORMAT", summary: "table (default) or json", choices: ["table", "json"] },
} as const satisfies Options;

/** The command that compares a deployment with a release. */

export const VERIFY_DEPLOYMENT_COMMANDS = [
  command({
    name: "admin verify-deployment",
    summary: "check that a deployment has the code and the files of a release",
    args: "",
    options: VERIFY_DEPLOYMENT_OPTIONS,
    examples: [
      "item-vault admin verify-deployment --host https://vault.example.com",
      "item-vault admin verify-deployment --host https://vault.example.com --release release.json --worker item-vault",
    ],
    load: () => import("./verify-deployment.ts"),
  }),
] as readonly Command[];
