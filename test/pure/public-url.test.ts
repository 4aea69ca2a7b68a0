import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { discoveryUrlOf, issuerUrlFault, publicUrlFault } from "../../src/model/public-url.ts";

/** The URLs of webhooks (contract 17.3), of the issuers of workload tokens, and of their keys (OpenID Connect Discovery 1.0). */

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
  "https://www.googleapis.com/oauth2/v3/certs",
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
  [`https://example.com/${"x".repeat(2_048)}`, /longer than 2048 bytes/],
];

/** Hosts and ports to which the service sends nothing, whatever it would send. */
const HOSTS: readonly (readonly [string, fault: RegExp])[] = [
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
  ...[
    "kubernetes.default.svc",
    "vault.default",
    "grafana.service.consul",
    "web.node.consul",
    "app.docker",
    "wiki.intern",
    "db.nomad",
    "git.lab",
    "nas.homelab",
    "vault.infra",
    "wiki.intra",
  ].map((host): [string, RegExp] => [`https://${host}/`, /local network/]),
];

const GOOD_ISSUERS = [
  "https://token.actions.githubusercontent.com",
  "https://gitlab.com",
  "https://agent.buildkite.com",
  "https://tenant.eu.auth0.com/",
  "https://github.acme.com/_services/token",
  "https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE",
  "https://login.microsoftonline.com/8f5f6a52-72c6-4b5e-9d0c-5c6b2d6a7e11/v2.0",
];

/** What is refused wherever the keys come from. */
const BAD_ISSUERS: readonly (readonly [string, fault: RegExp])[] = [
  ["kubernetes/serviceaccount", /is not a URL/],
  ["http://issuer.acme.com", /https/],
  ["https://user@issuer.acme.com", /user name/],
  ["https://issuer.acme.com/#a", /fragment/],
  ["https://issuer.acme.com?", /query/],
  ["https://issuer.acme.com/a?b=c", /query/],
  ["HTTPS://issuer.acme.com", /canonical/],
  ["https://Issuer.acme.com", /canonical/],
  ["https://issuer.acme.com:443", /canonical/],
  ["https://issuer.acme.com/a/../b", /canonical/],
  ["https://issuer.acme.com/./", /canonical/],
  ["https://issuer.acme.com/%2e%2e/b", /canonical/],
  ["https:issuer.acme.com", /canonical/],
  ["https:/issuer.acme.com", /canonical/],
];

describe("the URL of a webhook or of the keys of an issuer", () => {
  it.each(GOOD)("may be %s", (url) => {
    expect(publicUrlFault(url)).toBeUndefined();
  });

  it.each([...BAD, ...HOSTS])("may not be %j", (url, fault) => {
    expect(publicUrlFault(url)).toMatch(fault);
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
        expect(publicUrlFault(`https://${parts.join(".")}${dot}/`)).toBeDefined();
      }),
    );
  });

  it("is refused without any part of it in the message", () => {
    const word = "canaryword";
    for (const url of [`http://${word}.com/${word}`, `https://${word}/`, `https://${word}@a.com/`, word, `${word}://a.com`])
      expect(publicUrlFault(url)).not.toContain(word);
  });
});

describe("the origin for tests", () => {
  const ORIGIN = "http://127.0.0.1:9000";

  it("is allowed as it is, without user name and fragment", () => {
    expect(publicUrlFault(`${ORIGIN}/a?b=c`, [ORIGIN])).toBeUndefined();
    expect(publicUrlFault("http://user@127.0.0.1:9000/", [ORIGIN])).toMatch(/user name/);
    expect(publicUrlFault(`${ORIGIN}/#a`, [ORIGIN])).toMatch(/fragment/);
  });

  it.each(["http://127.0.0.1:9001/", "https://127.0.0.1:9000/", "http://localhost:9000/", "http://127.0.0.1/"])(
    "allows no other one: %s",
    (url) => {
      expect(publicUrlFault(url, [ORIGIN])).toBeDefined();
    },
  );
});

describe("the URL of an issuer", () => {
  it.each(GOOD_ISSUERS)("may be %s", (url) => {
    expect([issuerUrlFault(url, "fetched"), issuerUrlFault(url, "given")]).toEqual([undefined, undefined]);
  });

  it.each(BAD_ISSUERS)("may not be %j", (url, fault) => {
    expect(issuerUrlFault(url, "fetched")).toMatch(fault);
    expect(issuerUrlFault(url, "given")).toMatch(fault);
  });

  it.each(HOSTS)("has the hosts and ports of a webhook, if its keys are fetched: not %s", (url, fault) => {
    expect(issuerUrlFault(url, "fetched")).toMatch(fault);
  });

  it.each([
    "https://127.0.0.1",
    "https://10.0.0.1:6443",
    "https://[::1]/a",
    "https://kubernetes.default.svc",
    "https://kubernetes",
  ])("may have any host and port where the admin gives its keys: %s", (url) => {
    expect(issuerUrlFault(url, "given")).toBeUndefined();
  });

  it("may be at the origin for tests, and at no other one of this machine", () => {
    const origin = "http://127.0.0.1:9000";
    expect(issuerUrlFault(`${origin}/a`, "fetched", [origin])).toBeUndefined();
    for (const url of [
      `${origin}/a?b`,
      `${origin}/a#b`,
      "http://user@127.0.0.1:9000",
      "http://127.0.0.1:9001",
      "http://localhost:9000",
    ])
      expect(issuerUrlFault(url, "fetched", [origin])).toBeDefined();
    expect(issuerUrlFault(origin, "fetched")).toBeDefined();
  });

  it("is refused without any part of it in the message", () => {
    for (const url of ["http://canary.com", "https://canary", "https://canary@a.com", "https://A.com/canary", "canary"])
      expect(issuerUrlFault(url, "fetched")).not.toContain("canary");
  });
});

describe("the description of an issuer", () => {
  it.each([
    ["https://a.com", "https://a.com/.well-known/openid-configuration"],
    ["https://a.com/", "https://a.com/.well-known/openid-configuration"],
    ["https://a.com/b", "https://a.com/b/.well-known/openid-configuration"],
    ["https://a.com/b/c/", "https://a.com/b/c/.well-known/openid-configuration"],
  ])("of %s is at %s", (issuer, url) => {
    expect(discoveryUrlOf(issuer)).toBe(url);
  });
});
