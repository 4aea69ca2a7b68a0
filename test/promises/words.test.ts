import { describe, expect, it } from "vitest";
import { sources } from "../support/sources.ts";

/** What people read in the console, in the report of the health and in the command line. */

/** Texts that were replaced, with a bar between two. A space stands for any white space. */
const REPLACED = `
Choose an Item | opens the first result | Put all under the active | The keys of all vaults and the rows of all tokens
A root key wraps the keys | May leave ROOT_KEYS | do not need it | Active: seals and signs | opens what is under it
what is under it cannot be opened | all of it is sealed again | Its keys of before | is deleted for good
has done no long work | Go on with | Go on without | "Go on" | Show what is found | Destroy what is past its time
Delete the rows of deleted vaults | What the service serves | >The backups< | Look only whether
Write everything again, and look | backed up to the bucket of backups | There is no backup yet | "Found" | "As it was"
in the newest backup | Only one Item, by its id | The service has it as it was then | What was changed is lost
The restore has begun | "Room" | left in the database | that was made for long | What uses them stops then
All that was read in the last day | No damaged row was read | that the service is made of | nothing is backed up yet
Open the backups | Open the vaults | Open the keys | Open the tokens | Open the jobs | Vaults open until | not among them
Change what is open | Open other vaults | Your session manages vaults | The console gets a token
The vaults are open in this session | The most that the vault may hold | Who can open it | "What it is" | "May" | "Ends"
that workloads get by a rule | May issue tokens | The program or person that uses it | The workload that it is for
The platform, as your team calls it | Show ended | Only those that end soon | stops working for everybody
as far back as the activity is kept | it is shown only here | Copy lines for a shell | Whoever is on this list
People can be invited before | Nobody is invited yet | can no longer sign in | There are no issuers yet
is exchanged for one of this service | Exactly as its tokens have it | those of its rules | There are no webhooks yet
What it answers changes nothing | Stay paused | gets no events any more | events waiting | "failed attempt"
whoever learns it from one | that are easily guessed | No list of leaked passwords | what other fields hold is not compared
Choose a version to compare | the activity log shows that | is destroyed for ever | Destroy for ever | The change is undone
is in the list again | is where it was | Both values are here | is rotated | Without these characters | Generate again
of entropy | What you have typed is not saved | Discard the changes | Nothing is overwritten | Only the other side has changed
did not allow to copy | The clipboard is cleared in | It may still be in the clipboard | Clear the clipboard"
A link has signed you in | It is exchanged for a session | Log in a device | No device waits | Type only a code of a device
You have no permission | does not exist any more | somebody else has changed it since | Nothing is found
Values of fields are not searched | An Item, a view, or | "Act" | is a favourite | No Item is archived | As the system
Skip the navigation | End the selection | Select all of the list | read lists | Scan it with an app
dropped anywhere on the Item | >Figures< | Items of a file that another program | If you know it, choose it here
>Read the file< | is not text in UTF-8 | and the header has | would be far larger unpacked
the end of the last value, if the file | Choose where the Items go | Nothing is lost. | contains values in clear
It is under way, and stops | There with other content | You have no vault to which | Sign in to the console by a link
(does not open) | "Others may read | There is no such command | with all its items for good
`
  .trim()
  .split(/\n| \| /);

/** British spelling, and phrases of another language. */
const FOREIGN =
  /favourit|licen[c]e|programme\b|organis|recognis|authoris|colour|behaviour|cancelled|\bfor ever\b|\bin the meantime\b|\bmeanwhile\b|\ball of it\b|\buser name\b/i;

/** A noun with a capital letter within a sentence. */
const CAPITAL = /[a-z0-9,”}] (?:Items?|Files?|Vaults?|Versions?)\b/;

const SPACE = /\s+/g;
const read = sources.filter(({ path }) => /^(?:packages\/(?:console|cli|transfer)\/)?src\//.test(path));

/** Returns the texts of a source: its strings, and what stands between tags and braces. */
const textsOf = (code: string): string[] => [
  ...(code.replaceAll(/^import .*$/gm, "").match(/"[^"\n]*"/g) ?? []),
  ...(code.replaceAll(SPACE, " ").match(/`[^`]*`|[>}][^<>{}="`;[]*(?:<|\{(?! ))/g) ?? []),
];

const matching = (folder: string, pattern: RegExp): string[] =>
  read.flatMap(({ path, code }) =>
    path.startsWith(folder)
      ? textsOf(code)
          .filter((text) => pattern.test(text.replaceAll("Item Vault", "")))
          .map((text) => `${path}: ${text}`)
      : [],
  );

describe("what people read", () => {
  it("has none of the texts that were replaced", () => {
    const left = read.flatMap(({ path, code }) => {
      const text = code.replaceAll(SPACE, " ");
      return REPLACED.filter((phrase) => text.includes(phrase)).map((phrase) => `${path}: ${phrase}`);
    });
    expect([left, read.some(({ path }) => path.startsWith("packages/console/src/"))]).toEqual([[], true]);
  });

  it.each(["packages/console/src/", "packages/cli/src/"])("is American English in %s", (folder) =>
    expect(matching(folder, FOREIGN)).toEqual([]),
  );

  it.each(["packages/console/src/", "packages/cli/src/"])(
    "has item, file, vault and version in lower case within a sentence in %s",
    (folder) => expect(matching(folder, CAPITAL)).toEqual([]),
  );
});

interface Comment {
  readonly place: string;
  readonly isDoc: boolean;
  readonly text: string;
  /** The line of code after the comment. */
  readonly declaration: string;
}

const COMMENT = /(?<=^|[\s;,{}()[\]])(?:\/\*\*([^]*?)\*\/|((?:\/\/ .*\n[ \t]*(?=\/\/ ))*\/\/ .*))(?:\n(.*))?/gm;

const commentsOf = ({ path, text }: { readonly path: string; readonly text: string }): Comment[] =>
  [...text.matchAll(COMMENT)].map(({ index, 1: doc, 2: line = "", 3: declaration = "" }) => ({
    place: `${path}:${text.slice(0, index).split("\n").length}`,
    isDoc: doc !== undefined,
    text: (doc?.replaceAll(/^ *\* ?/gm, "") ?? line.replaceAll(/^ *\/\/ /gm, "")).trim(),
    declaration,
  }));

/** Splits a text into sentences. A colon, a semicolon, a list entry and a block of code end a sentence too. */
const sentencesOf = (text: string): string[] =>
  text
    .replaceAll(/^ {4}.*$/gm, "")
    .split(/[.:;?!)](?=\s|$)|\n\s*\n|\n *(?=- )/)
    .map((sentence) => sentence.replaceAll(SPACE, " ").trim());

const COMMON = new Set("a all an and are as at be by each for from in is it its of on or return the this to with".split(" "));

const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/\W+|_/)
    .map((word) => word.replace(/(?:e?s|e?d)$/, ""))
    .filter((word) => word !== "" && !COMMON.has(word));

const nameIn = (declaration: string): string =>
  /^\s*(?:(?:export|default|async|const|function|interface|type|class|readonly|static) )*(\w+)/.exec(declaration)?.[1] ?? "";

const repeats = ({ text, declaration }: Comment): boolean => {
  const name = new Set(wordsOf(nameIn(declaration)));
  return name.size > 0 && wordsOf(text).every((word) => name.has(word));
};

const BOUND = /^(?:The most|At most|The maximum|The largest)\b/;

/** Words of another language, each replaced by the field's word. */
const NOT_OURS =
  /\b(?:(?:does|do|did) not open|cannot be opened|under way|on its way|[ao][sf] before|for ever|meanwhile|in the meantime|makes? void|not looked at|in the clear|the same one|for who|what (?:D1|it|there) (?:has|is))\b/i;

const RULES: readonly (readonly [rule: string, breaks: (comment: Comment) => boolean])[] = [
  [
    "begins with no clause as a noun",
    ({ isDoc, text }) => isDoc && /^(?:SQL: )?(?:What|Whether|Who|Whose|How|Which|Where|When|That)\b/i.test(text),
  ],
  ["has no telegram", ({ text }) => /\b(?:In|Out|Errors)(?:, [\w ]+)?: /.test(text)],
  ["has no sentence of more than 30 words", ({ text }) => sentencesOf(text).some((one) => one.split(" ").length > 30)],
  ["uses the field's words", ({ text }) => NOT_OURS.test(text)],
  ["does not say that a bound is one", ({ text, declaration }) => BOUND.test(text) && /\bconst \w+_MAX\b/.test(declaration)],
  ["says more than the name", (comment) => comment.isDoc && repeats(comment)],
];

describe("a comment of src", () => {
  const comments = sources.filter(({ path }) => path.startsWith("src/")).flatMap(commentsOf);

  it.each(RULES)("%s", (_, breaks) =>
    expect(comments.filter(breaks).map(({ place, text }) => `${place}: ${text.slice(0, 80)}`)).toEqual([]),
  );
});
