import { type Client, ItemVaultError, retryDelayOf } from "@item-vault/client";
import { CliError, failureOf } from "../frame/failure.ts";
import { printable } from "../frame/printable.ts";
import { pause } from "./attempts.ts";
import { ageOf, type Moment } from "./copy.ts";

/** The tokens with which serve asks the service: one that was given, or one after the other by exchange. */

export interface Credential {
  readonly token: string;
  /** A client with this token. */
  readonly client: Client;
  /** A moment before the token was issued, and how many milliseconds it works from then on; absent: nobody renews it. */
  readonly life?: { readonly began: Moment; readonly milliseconds: number };
}

export interface Credentials {
  /** The last one that was issued. */
  readonly newest: () => Credential;
  /** Returns the last credential that the service has confirmed for the copy. Forwarded requests and local clients use it. */
  readonly current: () => Credential;
  /** Records that the copy belongs to a token. */
  readonly confirm: (credential: Credential) => void;
  /** Is told of a new token. */
  readonly renew: (credential: Credential) => void;
  /** Aborts when there is a newer token than the newest one of now. */
  readonly replaced: () => AbortSignal;
  /** True if the workload's last request for a token was refused. */
  isRefused: boolean;
  /** True if a new token is needed before the newest one expires, because the service refuses that one. */
  isWanted: boolean;
}

export function createCredentials(first: Credential): Credentials {
  let [newest, current] = [first, first];
  let replaced = new AbortController();
  const credentials: Credentials = {
    newest: () => newest,
    current: () => current,
    confirm: (credential) => void (current = credential),
    renew(credential) {
      newest = credential;
      credentials.isRefused = false;
      credentials.isWanted = false;
      const before = replaced;
      replaced = new AbortController();
      before.abort();
    },
    replaced: () => replaced.signal,
    isRefused: false,
    isWanted: false,
  };
  return credentials;
}

/** The maximum difference between the clocks of the service and of this machine. */
const SKEW_MS = 5_000;

/** Returns true if a token has expired, so that its refusal has no other meaning. */
export const hasEnded = ({ life }: Credential): boolean => life !== undefined && ageOf(life.began) >= life.milliseconds - SKEW_MS;

/** The fraction of its life after which a token is renewed: a third is left for attempts that fail. */
const RENEWED_AFTER = 2 / 3;
/** The minimum time before a renewal, however short the life of the token is. */
const LIFE_MS_MIN = 1_000;
/** Interval of looks at the clocks: a timer does not run while the machine sleeps. */
const LOOK_MS = 5_000;
const REFUSED_RETRY_MS = 60_000;

interface Renewal {
  readonly credentials: Credentials;
  /** Requests a token, once. Throws a CliError or an ItemVaultError. */
  readonly issue: (signal: AbortSignal) => Promise<Credential>;
  readonly say: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Renews the token before it ends, until the signal aborts. After a failure it tries again, also when the token has ended. */
export async function renewRegularly({ credentials, issue, say, signal }: Renewal): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    if (failures === 0) await untilDue(credentials, signal);
    if (signal.aborted) return;
    try {
      const credential = await issue(signal);
      if (failures > 0) say("the token was renewed");
      failures = 0;
      credentials.renew(credential);
    } catch (error) {
      if (signal.aborted) return;
      if (failures === 0) say(`the token could not be renewed: ${wordsOf(error)}: trying again`);
      credentials.isRefused = error instanceof CliError && error.exit === "denied";
      const delay = retryDelayOf(failures++, error instanceof ItemVaultError ? error : {});
      await pause(credentials.isRefused ? REFUSED_RETRY_MS : delay, signal);
    }
  }
}

/** Waits until the newest token must be renewed, or a new token is needed. */
async function untilDue(credentials: Credentials, signal: AbortSignal): Promise<void> {
  const { began, milliseconds } = credentials.newest().life!;
  const due = Math.max(LIFE_MS_MIN, milliseconds * RENEWED_AFTER);
  for (let left = due; left > 0 && !signal.aborted && !credentials.isWanted; left = due - ageOf(began))
    await pause(Math.min(left, LOOK_MS), signal);
}

/** Without the message of an unknown exception: it may contain a token. */
const wordsOf = (error: unknown): string => printable(failureOf(error)?.message ?? "an unexpected fault occurred");
