import { describe, expect, it } from "vitest";
import { capitalized, isolate, marked, presentText, withoutHidden } from "../../packages/console/src/ui/texts.ts";

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
