import type { Field, Item } from "@item-vault/client";
import { estimateEntropy } from "@item-vault/model/password";
import { titleOf } from "../items/categories.ts";

/** Whether a password is easily guessed: a small rule without a list of leaked passwords. What it does not find may still be weak. */

/** Bits of entropy. Eight random characters of all classes have about 52; the estimate is an upper one (contract 7.6). */
const STRONG_BITS = 50;

/** Words that lists of common passwords begin with, and those that people put a year or an exclamation mark behind. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "password passwort kennwort motdepasse passw pass secret login admin administrator root user guest test default changeme welcome " +
    "letmein access master qwerty qwertyuiop qwertz azerty asdfgh asdfghjkl zxcvbn zxcvbnm iloveyou monkey dragon football baseball " +
    "sunshine princess superman batman shadow trustno hello hallo freedom whatever flower computer internet spring summer autumn " +
    "winter january february march april may june july august september october november december"
  ).split(" "),
);

/** Characters that stand for letters in passwords. */
const LETTERS: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
};

const withLetters = (text: string): string => text.replaceAll(/[013457@$]/g, (character) => LETTERS[character]!);

/** The words that a password may consist of, but for digits and symbols around it: as it is, and with letters for what stands for them. */
function coresOf(value: string): readonly string[] {
  const begun = value.toLowerCase().replace(/[^\p{L}]+$/u, "");
  const core = begun.replace(/^[^\p{L}]+/u, "");
  return [core, withLetters(core), withLetters(begun)].filter((word) => word.length > 2);
}

/** The words of the title and the user name. */
const wordsOf = (item: Item): ReadonlySet<string> => {
  const username = item.fields.find(({ purpose }) => purpose === "USERNAME")?.value ?? "";
  return new Set(`${titleOf(item)} ${username}`.toLowerCase().split(/[^\p{L}]+/u));
};

/** Why the password of an Item is easily guessed, in words that have no part of it; `undefined` where nothing shows that. */
export function weaknessOf(item: Item, { value, entropy }: Field): string | undefined {
  const cores = coresOf(value);
  if (cores.some((core) => COMMON.has(core))) return "A common password";
  const words = wordsOf(item);
  if (cores.some((core) => words.has(core))) return "Made of the title or the username";
  if (/^(.{1,4})\1+$/su.test(value)) return "Repeated characters";
  const bits = entropy ?? estimateEntropy(value);
  return bits < STRONG_BITS ? `Short or simple (at most ${Math.floor(bits)} bits)` : undefined;
}
