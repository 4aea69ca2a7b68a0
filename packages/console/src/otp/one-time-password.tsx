import { parseTotp, type TotpParameters } from "@item-vault/model/totp-parameters";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { CopyButton } from "../items/copy-keys.tsx";
import { type FieldProps, labelOf } from "../items/field-types.ts";
import { PartMenu } from "../references/menu.tsx";
import { copy } from "../ui/clipboard.ts";
import { lazy } from "../ui/lazy.tsx";
import { plural } from "../ui/plural.ts";
import { SecretText, useReveal } from "../ui/reveal.tsx";

const QrDialog = lazy(() => import("../qr-codes/qr-dialog.tsx"), "QrDialog");

/** A field of type OTP: its current code. The key from which it is computed shows only when it is asked for. */
export function OneTimePassword({ field, item }: FieldProps) {
  const label = labelOf(field);
  const parameters = useMemo(() => parseTotp(field.value), [field.value]);
  const { revealed, toggle } = useReveal(field.value);
  const shown = useSignal(false);
  const keyActions = [
    { label: revealed ? "Hide the key" : "Reveal the key", run: toggle },
    { label: "Copy the key", run: () => void copy(`The key of ${label}`, field.value) },
    ...(parameters ? [{ label: "Show as QR code", run: () => void (shown.value = true) }] : []),
  ];
  return (
    <>
      <div class="otp">
        {parameters ? <Code parameters={parameters} /> : <span class="quiet">Not a valid one-time password key.</span>}
        {revealed && <SecretText value={field.value} />}
      </div>
      {parameters && (
        <CopyButton
          name={label}
          of={[field, item]}
          onCopy={() => void codeOf(parameters, stepAt(Date.now(), parameters)).then((code) => copy(label, code))}
        />
      )}
      <PartMenu target={{ field }} item={item} name={label} actions={keyActions} />
      {shown.value && <QrDialog field={field} item={item} onClose={() => (shown.value = false)} />}
    </>
  );
}

function Code({ parameters }: { readonly parameters: TotpParameters }) {
  const now = useNow();
  const step = stepAt(now, parameters);
  const [computed, setComputed] = useState<{ readonly parameters: TotpParameters; readonly code: string }>();
  useLayoutEffect(() => {
    let current = true;
    void codeOf(parameters, step).then((code) => current && setComputed({ parameters, code }));
    return () => {
      current = false;
    };
  }, [parameters, step]);
  if (computed?.parameters !== parameters) return <span class="code">…</span>;
  const { period } = parameters;
  const left = period - (Math.floor(now / 1000) % period); // seconds
  const [first, second] = [computed.code.slice(0, parameters.digits >> 1), computed.code.slice(parameters.digits >> 1)];
  return (
    <>
      <span class="code">{`${first} ${second}`}</span>
      <span class="left quiet">
        <svg class="ring" viewBox="0 0 24 24" aria-hidden="true">
          <circle cx="12" cy="12" r="9" />
          <circle cx="12" cy="12" r="9" pathLength={period} stroke-dasharray={`${left} ${period}`} />
        </svg>
        {/* A timer is announced when a screen reader comes to it, and not at each change (WAI-ARIA 1.2, role timer). */}
        <span role="timer" aria-label={`${plural(left, "second")} left`}>
          {left} s
        </span>
      </span>
    </>
  );
}

/** The current time in Unix milliseconds. It changes with each full second. */
function useNow(): number {
  const [time, setTime] = useState({ now: Date.now() });
  useLayoutEffect(() => {
    const timer = setTimeout(() => setTime({ now: Date.now() }), 1000 - (Date.now() % 1000));
    return () => clearTimeout(timer);
  }, [time]);
  return time.now;
}

/** One-time codes, computed in the page (RFC 6238). Web Crypto has the hashes, so no library is loaded. */

/** Returns the number of the period at a time in Unix milliseconds: the counter of RFC 6238 section 4.2. */
const stepAt = (now: number, { period }: TotpParameters): number => Math.floor(now / 1000 / period);

/** The code of a period (RFC 4226 section 5.3). */
async function codeOf({ secret, algorithm, digits }: TotpParameters, step: number): Promise<string> {
  const hash = algorithm.replace("SHA", "SHA-");
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash }, false, ["sign"]);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(step));
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, counter));
  const offset = mac.getUint8(mac.byteLength - 1) & 15;
  const number = mac.getUint32(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}
