import process from "node:process";
import { COMMANDS } from "./commands.ts";
import { runCli } from "./frame/cli.ts";
import { hasProxy } from "./frame/proxy.ts";

// Without a listener, a reader that has gone away (`| head`) ends the process with a stack.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
process.stderr.on("error", () => undefined); // nobody reads the messages
process.exitCode = await runCli(COMMANDS, process.argv.slice(2), process);
// Node asks a proxy that closes connections without an answer again and again, also after the request was aborted.
if (hasProxy(process.env)) process.exit();
