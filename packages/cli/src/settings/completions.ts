import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { write } from "../frame/io.ts";

/** `completions`: prints a script that asks `item-vault complete`, so that it never differs from the commands. */

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_item_vault() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _item_vault item-vault iv
`,
  zsh: `#compdef item-vault iv
_item_vault() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
# As a file of $fpath, whatever its name, the script runs at the first TAB: only then there is a completion to fill.
if (( \${+compstate} )); then _item_vault "$@"; else compdef _item_vault item-vault iv; fi
`,
  fish: `for program in item-vault iv
  complete -c $program -a '(set -l words (commandline -opc) (commandline -ct); $words[1] complete -- $words[2..-1] 2>/dev/null)'
end
`,
};

export async function run({ io, args }: Call): Promise<void> {
  const script = Object.hasOwn(SCRIPTS, args[0]!) ? SCRIPTS[args[0]!] : undefined;
  if (!script) throw new CliError(`There are completions for ${Object.keys(SCRIPTS).join(", ")}`, { exit: "usage" });
  await write(io.stdout, script);
}
