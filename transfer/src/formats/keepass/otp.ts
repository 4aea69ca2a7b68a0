import { otpUri } from "../../values.ts";

/** One-time passwords as KeePass, KeePassXC and their plugins store them: strings of an entry with agreed names. */

/** The strings that a form uses, and what it makes of them; `undefined`: the values have another form. */
interface Form {
  readonly keys: readonly string[];
  readonly uri: (values: Readonly<Record<string, string>>) => string | undefined;
}

const ALGORITHMS: Readonly<Record<string, string>> = { "HMAC-SHA-1": "SHA1", "HMAC-SHA-256": "SHA256", "HMAC-SHA-512": "SHA512" };

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Base32 without padding (RFC 4648 section 6). */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}

const SECRETS: Readonly<Record<string, (text: string) => string>> = {
  "TimeOtp-Secret-Base32": (text) => text,
  "TimeOtp-Secret-Hex": (text) => base32(Buffer.from(text.replaceAll(/\s/g, ""), "hex")),
  "TimeOtp-Secret-Base64": (text) => base32(Buffer.from(text, "base64")),
  "TimeOtp-Secret": (text) => base32(Buffer.from(text, "utf8")),
};

const FORMS: readonly Form[] = [
  {
    // KeePassXC: a key URI. KeeOtp: `key=…&step=30&size=6`.
    keys: ["otp"],
    uri: ({ otp = "" }) => {
      if (!/(^|&)key=/.test(otp)) return otp || undefined;
      const query = new URLSearchParams(otp);
      const [digits, period, algorithm] = ["size", "step", "otpHashMode"].map((name) => query.get(name) ?? undefined);
      return query.has("type") && query.get("type")?.toLowerCase() !== "totp"
        ? undefined
        : uriOf(query.get("key")!, { digits, period, algorithm });
    },
  },
  {
    // TrayTOTP and earlier KeePassXC: `30;6`. Steam's codes have an S instead of the digits.
    keys: ["TOTP Seed", "TOTP Settings"],
    uri: ({ "TOTP Seed": seed = "", "TOTP Settings": settings = "" }) => {
      const [, period, digits] = /^(\d+);(\d)(;.*)?$/.exec(settings || "30;6") ?? [];
      return seed && period ? uriOf(seed, { period, digits }) : undefined;
    },
  },
  {
    // KeePass 2.47 and later (keepass.info/help/base/placeholders.html#otp).
    keys: [...Object.keys(SECRETS), "TimeOtp-Length", "TimeOtp-Period", "TimeOtp-Algorithm"],
    uri: (values) => {
      const [found, ...others] = Object.entries(SECRETS).filter(([key]) => values[key]);
      if (!found || others.length > 0) return undefined;
      const [key, decode] = found;
      const name = values["TimeOtp-Algorithm"];
      const parameters = { digits: values["TimeOtp-Length"], period: values["TimeOtp-Period"] };
      return uriOf(decode(values[key]!), { ...parameters, algorithm: name ? (ALGORITHMS[name] ?? name) : undefined });
    },
  },
];

function uriOf(secret: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value);
  return given.length > 0 ? otpUri({ secret, ...Object.fromEntries(given) }) : secret;
}

/** What the strings of an entry give: the values for OTP fields, and the names of the strings that they stand for. */
export function readOtps(strings: ReadonlyMap<string, string>): { readonly otps: string[]; readonly used: ReadonlySet<string> } {
  const otps: string[] = [];
  const used = new Set<string>();
  for (const { keys, uri } of FORMS) {
    const value = uri(Object.fromEntries(keys.map((key) => [key, strings.get(key) ?? ""])));
    if (!value) continue;
    if (!otps.includes(value)) otps.push(value);
    for (const key of keys) used.add(key);
  }
  return { otps, used };
}
