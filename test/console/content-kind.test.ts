import { describe, expect, it } from "vitest";
import { kindOf } from "../../packages/console/src/files/content-kind.ts";
import { savedName } from "../../packages/console/src/ui/texts.ts";

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
