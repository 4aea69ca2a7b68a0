/** Titles that a client has to encode in a URL. habits.test.ts has the titles that the SDK does not encode correctly. */

/** An id in the dialect `connect`. */
export const SHORT_ID = /^[a-z2-7]{26}$/;

export const TITLES = [
  "two words",
  "  blanks   all  over ",
  " ",
  'a "quoted" word',
  '"',
  '"all of it"',
  '"salt" and "pepper"',
  "it's 'single'",
  "salt & pepper",
  "a&filter=b&c=d",
  'x" & "y',
  "1+1",
  "a + b",
  "100%",
  "5 % of %zz",
  "back\\slash",
  "C:\\Users\\ada\\",
  "a/b/../c?d=e;f,g:h@i",
  "<b>[x]{y}|z^`~$!*()</b>",
  "Grüße aus Köln",
  "日本語のタイトル",
  "e\u0301 is not \u00e9",
  "عنوان ‏עברית‏",
  "🔑 key 👩‍👩‍👧‍👦",
  "title eq title",
  "abcdefghijklmnopqrstuvwxy", // 25 characters: one less than an id
  "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
] as const;

/** Titles that look like ids: 26 characters, lower-case letters and digits. */
export const ID_LIKE = ["abcdefghijklmnopqrstuvwxyz", "h6uf6zcxc5cwfm74fsld6zvpuy", "00000000000000000000000000"] as const;
