import { CliError } from "../../frame/failure.ts";
import { KEYS_ACTIONS, type KeysCall } from "./table.ts";

/** `admin keys`: finds the action in the table and runs it. */
export async function run(call: KeysCall): Promise<number | void> {
  const [name = "list", ...ids] = call.args;
  const action = KEYS_ACTIONS.find((row) => row.name === name);
  const hint = "Run `item-vault admin keys --help`.";
  if (!action) throw new CliError("admin keys: unknown action", { exit: "usage", hint });
  const wanted = action.args.split(" ").filter(Boolean);
  const least = wanted.filter((word) => word.startsWith("<")).length;
  const most = action.args.endsWith("…") ? Infinity : wanted.length;
  if (ids.length < least || ids.length > most)
    throw new CliError(`admin keys: expected \`item-vault admin keys ${`${name} ${action.args}`.trim()}\``, {
      exit: "usage",
      hint,
    });
  const { run: runAction } = await action.load();
  return runAction(call, ids);
}
