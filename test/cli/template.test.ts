import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CliError } from "../../packages/cli/src/frame/failure.ts";
import { parseTemplate, referencesOf, renderTemplate } from "../../packages/cli/src/read/template.ts";
import { CHARACTER } from "../support/characters.ts";

const VARIABLES = { VAULT: "prod", my_var: "one", mY_2nd_vAr: "two", Case: "exact", CASE: "upper", SLASH: "a/b", EMPTY: "" };

/** Shows the parts of a template: its references in brackets. */
const show = (template: string) =>
  parseTemplate(template, VARIABLES)
    .map((part) => ("text" in part ? part.text : `[${part.reference}]`))
    .join("");

describe("the examples of 1Password's template syntax", () => {
  it.each([
    ["an unenclosed reference", "op://prod/docker-credentials/username", "[op://prod/docker-credentials/username]"],
    ["one with a section", "op://d3v/stripe.keys/s3ct10n/public_key", "[op://d3v/stripe.keys/s3ct10n/public_key]"],
    ["an enclosed reference", "{{op://prod/docker-credentials/username}}", "[op://prod/docker-credentials/username]"],
    [
      "one padded with blanks",
      "a {{ op://d3v/stripe.keys/s3ct10n/public_key }} b",
      "a [op://d3v/stripe.keys/s3ct10n/public_key] b",
    ],
    [
      "quoted text",
      '{{ "{{ test op://prod/docker-credentials/username }}" }}',
      "{{ test op://prod/docker-credentials/username }}",
    ],
    ["quotes in quoted text", '{{ "{{ test \\"test\\" test }}" }}', '{{ test "test" test }}'],
    ["a variable", "$my_var", "one"],
    ["a variable of another case", "$MY_2ND_VAR", "two"],
    ["no variable: the name begins with a digit", "$2nd_var", "$2nd_var"],
    ["a variable up to the first other character", "$my_var-?notvar!", "one-?notvar!"],
    ["an enclosed variable", "${my_var}", "one"],
    ["an enclosed variable with blanks", "${ mY_2nd_vAr }", "two"],
    ["no variable: the closing brace is escaped", "${my_var\\\\}", "${my_var\\\\}"],
    ["a default that is not used", "op://${VAULT:-dev}/docker/password", "[op://prod/docker/password]"],
    ["a default", "op://${OTHER:-dev}/docker/password", "[op://dev/docker/password]"],
  ])("%s", (_, template, shown) => expect(show(template)).toBe(shown));

  it.each([
    ["unsupported characters", 'op://h?ack/1Password!/for"real'],
    ["unsupported characters, enclosed", '{{op://h?ack/1Password!/for"real}}'],
    ["braces", "op://{vault}/[item]/(section)/field"],
  ])("refuses %s", (_, template) => expect(() => show(template)).toThrow(CliError));
});

describe("a template", () => {
  it.each([
    ["an attribute", "op://a/b/c?attribute=otp,", "[op://a/b/c?attribute=otp],"],
    ["names with blanks in braces", "{{ op://My Vault/My Item/one time }}", "[op://My Vault/My Item/one time]"],
    ["a reference ends at a blank without braces", "op://a/b/c d", "[op://a/b/c] d"],
    ["two references in a line", "op://a/b/c:op://a/b/d", "[op://a/b/c]:[op://a/b/d]"],
    ["a longer word is no reference", "loop://a/b/c x+op://a/b/c", "loop://a/b/c x+op://a/b/c"],
    ["the scheme in capitals", "a OP://a/b/c, {{ Op://a/b/c d }} LOOP://a/b/c", "a [OP://a/b/c], [Op://a/b/c d] LOOP://a/b/c"],
    ["line breaks and tabs in braces", "{{\n\top://a/b/c d\r\n}}", "[op://a/b/c d]"],
    ["an escaped reference stays", "\\op://a/b/c", "\\op://a/b/c"],
    ["braces of other template languages stay", "{{ .Values.x }} {{op }} {%x%}", "{{ .Values.x }} {{op }} {%x%}"],
    ["a variable that is not set stays in the text", "$nothing ${nothing} a$", "$nothing ${nothing} a$"],
    ["an escaped variable stays", "\\$my_var", "\\$my_var"],
    ["an empty variable is set", "<${EMPTY:-default}>", "<>"],
    ["the exact case of a variable goes first", "$Case $CASE", "exact upper"],
    ["a variable with a slash", "op://$SLASH/c", "[op://a/b/c]"],
    [
      "letters of any script",
      "x=op://Schl\u00fcssel/Schlu\u0308ssel/\u{20000}\u9375.",
      "x=[op://Schl\u00fcssel/Schlu\u0308ssel/\u{20000}\u9375.]",
    ],
    ["letters of any script in braces", "{{op://Mein Schl\u00fcssel/\u{20000} b/c}}", "[op://Mein Schl\u00fcssel/\u{20000} b/c]"],
    ["a reference ends before a character that no part has", "op://a/b/\u{20000}\u{1f512}", "[op://a/b/\u{20000}]\u{1f512}"],
    ["line ends of Windows", "a=op://a/b/c\r\nb", "a=[op://a/b/c]\r\nb"],
  ])("%s", (_, template, shown) => expect(show(template)).toBe(shown));

  it("names the line and column of a fault, and repeats nothing", () => {
    expect(() => show("one\ntwo op://secret-vault/x")).toThrow("The reference in line 2, column 5 is malformed");
    expect(() => show("{{ op://$NOTHING/b/c }}")).toThrow("The variable in the reference in line 1, column 9 is not set");
  });

  it("never searches a value for references or variables", () => {
    const variables = { A: "op://a/b/c", B: "$A" };
    expect(referencesOf(parseTemplate("$A ${B} ${NONE:-x}", variables))).toEqual([]);
    const parts = parseTemplate("op://a/b/c", {});
    expect(renderTemplate(parts, new Map([["op://a/b/c", "$A op://x/y/z"]]))).toBe("$A op://x/y/z");
  });

  it("of 2,000,000 characters is parsed, which quadratic time would not do within the time-out", () => {
    for (const part of ["abcdefg\n", "{{ ", "{{\n\n\n\n", '{{ "', "${a:-", "$b ", "{{op "]) {
      const template = part.repeat(2_000_000 / part.length);
      expect(show(template)).toHaveLength(template.length);
    }
  });

  it("without references and variables is returned as it is", () => {
    const harmless = fc.string({ unit: CHARACTER }).filter((text) => !/op:\/\/|\$|\{\{\s*"/i.test(text));
    fc.assert(
      fc.property(harmless, (text) => {
        expect(renderTemplate(parseTemplate(text, VARIABLES), new Map())).toBe(text);
      }),
    );
  });

  it("keeps everything around its references", () => {
    const around = fc.string().filter((text) => !/[$"{}]|op:/i.test(text));
    fc.assert(
      fc.property(fc.array(around, { minLength: 1 }), (texts) => {
        const template = texts.join("{{op://a/b/c}}");
        expect(renderTemplate(parseTemplate(template, {}), new Map([["op://a/b/c", "…"]]))).toBe(texts.join("…"));
      }),
    );
  });
});
