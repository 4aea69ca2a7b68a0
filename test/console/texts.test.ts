import { describe, expect, it } from "vitest";
import { plural as inCommandLine } from "../../packages/cli/src/frame/printable.ts";
import { explain } from "../../packages/console/src/failures/explain.ts";
import { kindOf } from "../../packages/console/src/files/content-kind.ts";
import { plural } from "../../packages/console/src/ui/plural.ts";
import { explainRestore, explainRetention, restorableUntil } from "../../packages/console/src/ui/retention.ts";
import { formatSize } from "../../packages/console/src/ui/size.ts";
import { capitalized, isolate, marked, presentText, savedName, withoutHidden } from "../../packages/console/src/ui/texts.ts";
import { formatTime } from "../../packages/console/src/ui/time.ts";

/** Numbers with their nouns, in the console and in the command line. */

describe("a number with its noun", () => {
  it.each([
    [0, "0 items", "0 entries"],
    [1, "1 item", "1 entry"],
    [2, "2 items", "2 entries"],
    [12_000, "12,000 items", "12,000 entries"],
  ])("of %i is in the singular for one only", (count, items, entries) => {
    const texts = [plural(count, "item"), plural(count, "entry", "entries")];
    expect(texts).toEqual([items, entries]);
    // The command line does not group digits: scripts read its messages.
    expect([inCommandLine(count, "item"), inCommandLine(count, "entry", "entries")]).toEqual(
      texts.map((text) => text.replace(",", "")),
    );
  });

  it("is what a size is written as", () => {
    expect([0, 1, 999, 1000, 1234567].map(formatSize)).toEqual(["0 bytes", "1 byte", "999 bytes", "1 KB", "1.23 MB"]);
  });
});

describe("the retention of deleted Items", () => {
  it.each([
    [30, "Deleted items can be restored for 30 days."],
    [1, "Deleted items can be restored for 1 day."],
    [0.5, "Deleted items can be restored for 0.5 days."],
    [0, "This service keeps no deleted items: a deletion is permanent."],
  ])("of %d days is told as %j", (deletedRetentionDays, text) => expect(explainRetention({ deletedRetentionDays })).toBe(text));

  it.each([
    [30, "You can restore it under Deleted items for 30 days."],
    [0, "This deletes it permanently: the service keeps no deleted items."],
  ])("of %d days is told before a deletion as %j", (deletedRetentionDays, text) =>
    expect(explainRestore({ deletedRetentionDays })).toBe(text),
  );

  it("ends so long after the deletion", () =>
    expect(restorableUntil("2026-11-22T10:00:00.000Z", { deletedRetentionDays: 1.5 })).toBe(
      formatTime("2026-11-23T22:00:00.000Z"),
    ));
});

/** Failures in words for people. */

it.each([
  ["Chromium", "Failed to fetch dynamically imported module: https://vault.example.com/console/assets/health-view-A.js"],
  ["Firefox", "error loading dynamically imported module: https://vault.example.com/console/assets/health-view-A.js"],
  ["Safari", "Importing a module script failed."],
])("a script that %s does not find after an upgrade is no fault of the connection alone", (_, message) => {
  expect(explain(new TypeError(message))).toContain("the service was updated or can’t be reached. Reload the page.");
  expect(explain(new TypeError("undefined is not a function"))).toBe("Something went wrong in this page. Reload it.");
});

/** Characters that nobody sees in texts of people: they are shown as marks, so that no name looks like another one. */

describe("a character that nobody sees", () => {
  it.each([
    ["an override of the direction", "gpj\u202exe", "gpj[U+202E]xe"],
    ["an isolate", "\u2066a\u2069", "[U+2066]a[U+2069]"],
    ["a mark of the direction", "a\u200f", "a[U+200F]"],
    ["a zero-width space", "Pay\u200bPal", "Pay[U+200B]Pal"],
    ["a joiner between Latin letters", "ad\u200dmin", "ad[U+200D]min"],
    ["a soft hyphen", "ad\u00admin", "ad[U+00AD]min"],
    ["a byte order mark", "\ufeffadmin", "[U+FEFF]admin"],
    ["a filler of Hangul", "a\u3164", "a[U+3164]"],
    ["a tag", "a\u{e0041}", "a[U+E0041]"],
    ["a control character", "a\u0007", "a[U+0007]"],
    ["a run of them, which is told once", "a\u200b\u200c\u200bb", "a[3 hidden characters]b"],
  ])("is shown as a mark: %s", (_, text, shown) => {
    expect([marked(text), isolate(text), presentText(text)]).toEqual([shown, shown, shown]);
  });

  it.each([
    ["an emoji of several people", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}"],
    ["an emoji with its form", "\u2764\ufe0f"],
    ["a flag of tags", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"],
    ["a Persian word", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"],
    ["a Hindi conjunct", "\u0915\u094d\u200d\u0937"],
    ["a tab and a line feed", "a\tb\nc"],
  ])("stays where the text needs it: %s", (_, text) => expect(marked(text)).toBe(text));

  it("is not typed to confirm a name", () => expect(withoutHidden("Pay\u200bPal\u202e")).toBe("PayPal"));
});

describe("a text of a person within a sentence", () => {
  it("is isolated where it has letters from right to left, and cannot end the isolate", () => {
    const shown = presentText(`Deleted ${isolate("\u05d0\u2069\u202eb")}.`);
    expect(shown).toBe("Deleted \u2068\u05d0[2 hidden characters]b\u2069.");
    expect(presentText(capitalized("password"))).toBe("Password");
  });
});

/** What a File's content is, and the name under which it is saved. */

const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const utf8 = (text: string) => new TextEncoder().encode(text);

describe("a content", () => {
  it.each([
    ["image/png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"],
    ["image/jpeg", "\xff\xd8\xff\xe0\0\x10JFIF"],
    ["image/gif", "GIF89a\x01\0"],
    ["image/webp", "RIFF\x24\0\0\0WEBPVP8 "],
    ["image/avif", "\0\0\0\x1cftypavif\0\0\0\0avifmif1"],
    ["image/avif", "\0\0\0\x20ftypmif1\0\0\0\0mif1miafavif"],
  ])("that begins as %s is shown as such an image", (image, start) => {
    expect(kindOf(latin1(start), true)).toEqual({ image });
  });

  it.each([
    ["a text", "first line\r\nsecond\tcolumn\f"],
    ["a text with any characters", "Zürich 🔑 \u202Eright to left"],
    ["SVG", '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ["HTML", "<!doctype html><script>alert(1)</script>"],
    ["a text that names an image", "PNG GIF89a RIFF"],
  ])("that is %s is shown as its text", (_, text) => {
    expect(kindOf(utf8(text), true)).toEqual({ text });
  });

  it.each([
    ["has a zero byte", "text\0"],
    ["has a control character", "\x1b[31mred\x1b[0m\x07"],
    ["is no UTF-8", "caf\xe9"],
    ["ends within a character", "caf\xc3"],
    ["is a PDF", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"],
    ["is a ZIP archive", "PK\x03\x04"],
    ["is a video", "\0\0\0\x1cftypisom\0\0\x02\0isomiso2mp41"],
  ])("that %s has no preview", (_, bytes) => {
    expect(kindOf(latin1(bytes), true)).toBeUndefined();
  });

  it("of which only the beginning is there may end within a character", () => {
    expect(kindOf(latin1("caf\xc3"), false)).toEqual({ text: "caf" });
  });
});

it.each([
  ["ca.pem", "ca.pem"],
  ["<img src=x>.txt", "<img src=x>.txt"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Windows\\a.dll", "a.dll"],
  ["\u202Egnp.exe", "gnp.exe"],
  ["a\0\n\x7fb", "ab"],
  ["..", "file"],
  ["a/", "file"],
])("a File named %j is saved as %j", (name, saved) => {
  expect(savedName(name)).toBe(saved);
});
