import { base32 } from "@item-vault/model/ids";
import { bytesOfBase64 } from "../../bytes.ts";
import { lookup } from "../../lookup.ts";
import { otpUri } from "../../values.ts";

/** One-time passwords as KeePass, KeePassXC and their plugins store them: strings of an entry with agreed names. */

/** The strings of a form, and the URI made from them; undefined if the values have another form. */
interface Form {
  readonly keys: readonly string[];
  readonly uri: (values: Readonly<Record<string, string>>) => string | undefined;
}

const ALGORITHMS: Readonly<Record<string, string>> = { "HMAC-SHA-1": "SHA1", "HMAC-SHA-256": "SHA256", "HMAC-SHA-512": "SHA512" };

const encode = (bytes: Uint8Array): string => base32(bytes).toUpperCase();

/** Makes base32 of a secret in another encoding. Returns `undefined` for a text that is not in this encoding. */
const ENCODINGS = {
  base32: (text) => text,
  hex: (text) => {
    const digits = text.replaceAll(/\s/g, "");
    return /^([0-9a-f]{2})+$/i.test(digits) ? encode(Buffer.from(digits, "hex")) : undefined;
  },
  base64: (text) => {
    const bytes = bytesOfBase64(text.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/"));
    return bytes && encode(bytes);
  },
  utf8: (text) => encode(Buffer.from(text, "utf8")),
} satisfies Readonly<Record<string, (text: string) => string | undefined>>;

type Decode = (text: string) => string | undefined;

/** The strings of KeePass for a secret, one for each encoding. */
const SECRETS: Readonly<Record<string, Decode>> = {
  "TimeOtp-Secret-Base32": ENCODINGS.base32,
  "TimeOtp-Secret-Hex": ENCODINGS.hex,
  "TimeOtp-Secret-Base64": ENCODINGS.base64,
  "TimeOtp-Secret": ENCODINGS.utf8,
};

const FORMS: readonly Form[] = [
  {
    // KeePassXC: a key URI. KeeOtp: `key=…&step=30&size=6&encoding=Hex`, where a `+` of base64 may be a blank.
    keys: ["otp"],
    uri: ({ otp = "" }) => {
      if (!/(^|&)key=/.test(otp)) return otp || undefined;
      const query = new URLSearchParams(otp);
      const [digits, period, algorithm] = ["size", "step", "otpHashMode"].map((name) => query.get(name) ?? undefined);
      const [type, encoding] = [query.get("type") || "totp", query.get("encoding") || "base32"].map((text) => text.toLowerCase());
      if (type !== "totp") return undefined;
      const key = encoding === "base64" ? query.get("key")!.replaceAll(" ", "+") : query.get("key")!;
      return uriOf(lookup<Decode>(ENCODINGS, encoding!)?.(key), { digits, period, algorithm });
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
      return uriOf(decode(values[key]!), { ...parameters, algorithm: name && (lookup(ALGORITHMS, name) ?? name) });
    },
  },
];

function uriOf(secret: string | undefined, parameters: Readonly<Record<string, string | undefined>>): string | undefined {
  if (!secret) return undefined;
  const given = Object.entries(parameters).filter(([, value]) => value);
  return given.length > 0 ? otpUri({ secret, ...Object.fromEntries(given) }) : secret;
}

/** Returns the values for OTP fields in an entry's strings, and the names of the strings that they replace. */
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
