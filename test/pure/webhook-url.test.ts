import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { webhookUrlFault } from "../../src/model/webhook-url.ts";

/** The URLs of webhooks (contract 17.3). */

const GOOD = [
  "https://hooks.example.com",
  "https://hooks.example.com/a/b?c=d&e=%20",
  "HTTPS://HOOKS.EXAMPLE.COM/",
  "https://hooks.example.com:443/",
  "https://a.b.c.d.example.org/~x",
  "https://xn--bcher-kva.example.com/",
  "https://7.example.co/",
  "https://_hooks.example.com/",
  "https://localhost.example.com/",
  `https://example.com/${"x".repeat(2_000)}`,
];

const BAD: readonly (readonly [string, fault: RegExp])[] = [
  ["", /is not a URL/],
  ["hooks.example.com", /is not a URL/],
  ["https://", /is not a URL/],
  ["https://hooks.example.com/ a", /is not a URL/],
  [" https://hooks.example.com/", /is not a URL/],
  ["https://hooks.exa\tmple.com/", /is not a URL/],
  ["https://hooks.example.com\n/", /is not a URL/],
  ["https://bücher.example.com/", /is not a URL/],
  ["https:\\\\hooks.example.com\\", /is not a URL/],
  ["https://hooks.example.com:99999/", /is not a URL/],
  ["http://hooks.example.com/", /https/],
  ["ftp://hooks.example.com/", /https/],
  ["file:///etc/passwd", /https/],
  ["javascript:alert(1)", /https/],
  ["wss://hooks.example.com/", /https/],
  ["https://user@hooks.example.com/", /user name/],
  ["https://user:secret@hooks.example.com/", /user name/],
  ["https://:secret@hooks.example.com/", /user name/],
  ["https://hooks.example.com/#a", /fragment/],
  ["https://hooks.example.com/#", /fragment/],
  ["https://hooks.example.com:8443/", /port/],
  ["https://hooks.example.com:80/", /port/],
  // IPv4, also in spellings that URL parsers accept.
  ["https://127.0.0.1/", /full domain name/],
  ["https://192.168.1.1/", /full domain name/],
  ["https://169.254.169.254/latest/meta-data", /full domain name/],
  ["https://8.8.8.8/", /full domain name/],
  ["https://127.1/", /full domain name/],
  ["https://2130706433/", /full domain name/],
  ["https://0x7f000001/", /full domain name/],
  ["https://0x7f.0.0.1/", /full domain name/],
  ["https://0177.0.0.1/", /full domain name/],
  ["https://017700000001/", /full domain name/],
  ["https://127.0.0.1./", /full domain name/],
  ["https://%31%32%37.0.0.1/", /full domain name/],
  ["https://0/", /full domain name/],
  ["https://1.2.3.4.5/", /is not a URL|full domain name/],
  // IPv6
  ["https://[::1]/", /full domain name/],
  ["https://[::ffff:127.0.0.1]/", /full domain name/],
  ["https://[fe80::1]/", /full domain name/],
  ["https://[2606:4700::1111]/", /full domain name/],
  // Names of one label, with a dot at the end, and of local networks.
  ["https://localhost/", /full domain name/],
  ["https://localhost./", /full domain name/],
  ["https://intranet/", /full domain name/],
  ["https://com/", /full domain name/],
  ["https://hooks.example.com./", /full domain name/],
  ["https://hooks..example.com/", /full domain name/],
  ["https://-a.example.com/", /full domain name/],
  ["https://a*b.example.com/", /is not a URL|full domain name/],
  ["https://app.localhost/", /local network/],
  ["https://printer.local/", /local network/],
  ["https://metadata.google.internal/", /local network/],
  ["https://router.home.arpa/", /local network/],
  ["https://nas.lan/", /local network/],
  ["https://LOCALHOST.LOCALDOMAIN/", /local network/],
  ["https://hidden.onion/", /local network/],
  [`https://example.com/${"x".repeat(2_048)}`, /longer than 2048 bytes/],
];

describe("the URL of a webhook", () => {
  it.each(GOOD)("may be %s", (url) => {
    expect(webhookUrlFault(url, undefined)).toBeUndefined();
  });

  it.each(BAD)("may not be %j", (url, fault) => {
    expect(webhookUrlFault(url, undefined)).toMatch(fault);
  });

  it("never has an address as its host, whatever the spelling", () => {
    const part = fc.oneof(
      fc.nat(255).map(String),
      fc.nat(0xffff_ffff).map((n) => `0x${n.toString(16)}`),
      fc.nat(0xffff_ffff).map((n) => `0${n.toString(8)}`),
      fc.nat(0xffff_ffff).map(String),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.constantFrom("", "."), (parts, dot) => {
        expect(webhookUrlFault(`https://${parts.join(".")}${dot}/`, undefined)).toBeDefined();
      }),
    );
  });

  it("is refused without any part of it in the message", () => {
    const word = "canaryword";
    for (const url of [`http://${word}.com/${word}`, `https://${word}/`, `https://${word}@a.com/`, word, `${word}://a.com`])
      expect(webhookUrlFault(url, undefined)).not.toContain(word);
  });
});

describe("the origin for tests", () => {
  const ORIGIN = "http://127.0.0.1:9000";

  it("is allowed as it is, without user name and fragment", () => {
    expect(webhookUrlFault(`${ORIGIN}/a?b=c`, ORIGIN)).toBeUndefined();
    expect(webhookUrlFault("http://user@127.0.0.1:9000/", ORIGIN)).toMatch(/user name/);
    expect(webhookUrlFault(`${ORIGIN}/#a`, ORIGIN)).toMatch(/fragment/);
  });

  it.each(["http://127.0.0.1:9001/", "https://127.0.0.1:9000/", "http://localhost:9000/", "http://127.0.0.1/"])(
    "allows no other one: %s",
    (url) => {
      expect(webhookUrlFault(url, ORIGIN)).toBeDefined();
    },
  );
});
