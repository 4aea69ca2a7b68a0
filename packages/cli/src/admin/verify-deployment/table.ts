import { type Command, command } from "../../frame/command.ts";
import { VERIFY_DEPLOYMENT_OPTIONS } from "./options.ts";

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
