/**
 * Environment variables that shells, the loader and common programs obey. Setting one can make a program run other code. `_` is
 * included because shells set it themselves.
 */
const OBEYED = /^(?:PATH|IFS|ENV|BASH_ENV|PROMPT_COMMAND|NODE_OPTIONS|_|(?:LD_|DYLD_|PYTHON|GIT_|SSH_).*)$/s;

export const isObeyedVariable = (name: string): boolean => OBEYED.test(name);
