import { useSignal } from "@preact/signals";
import type { LoginCode, Permission, ListedToken } from "@item-vault/client";
import { session } from "../state/session.ts";
import { Page } from "../ui/page.tsx";
import { NoPerson, ownVaults } from "./facts.tsx";
import { LIMITS } from "@item-vault/model/limits";
import { permissionOf } from "@item-vault/model/permission";
import { describePermission, grants, OPERATIONS, type Scope } from "../admin/scope.ts";
import { call } from "../state/client.ts";
import { vaultName } from "../state/items.ts";
import { navigate } from "../state/route.ts";
import { Form, textOf } from "../ui/form.tsx";
import { useLayoutEffect } from "preact/hooks";
import { copy } from "../ui/clipboard.ts";

/** Makes a code that logs in a terminal, and shows who has used it (contract 28.5). No address has the code. */

export function TerminalView() {
  const made = useSignal<LoginCode | undefined>(undefined);
  const isPerson = session.value!.person !== undefined;
  return (
    <Page title="Connect a terminal">
      {!isPerson && <NoPerson />}
      {isPerson && !made.value && <CodeForm onMade={(code) => (made.value = code)} />}
      {made.value && <MadeCode key={made.value.id} code={made.value} onAgain={() => (made.value = undefined)} />}
    </Page>
  );
}

/** The permissions of a terminal: to read, for an hour, unless the person chooses more. */

const LIFETIMES = [
  ["15 minutes", 15 * 60],
  ["1 hour", LIMITS.loginCodeLifetime],
  ["12 hours", LIMITS.loginLifetime],
] as const;

/** Returns the part of a permission that only reads. */
const readingOf = (permission: Permission): Permission | undefined =>
  permissionOf(OPERATIONS.filter((operation) => grants("r", operation) && grants(permission, operation)));

function CodeForm({ onMade }: { readonly onMade: (code: LoginCode) => void }) {
  const own = Object.entries(ownVaults()).map(([id, all]) => ({ id, all, reading: readingOf(all) }));
  const action = async (data: FormData) => {
    const vaults = Object.fromEntries(
      own.flatMap(({ id, all, reading }) => {
        const permission = { all, reading, none: undefined }[textOf(data, id)];
        return permission ? [[id, permission]] : [];
      }),
    ) as Scope;
    const body = { vaults, expiresIn: Number(textOf(data, "lifetime")) };
    onMade((await call("POST /console/login-codes", { body })).data);
  };
  return (
    <Form action={action} submit="Create code" onCancel={() => navigate({ view: "items" })}>
      <p>A program in the terminal gets a token in your name. It is never an administrator.</p>
      {own.map(({ id, all, reading }) => (
        <label key={id}>
          {vaultName(id) || id}
          <select name={id}>
            {reading && <option value="reading">{describePermission(reading)}</option>}
            <option value="none">no access</option>
            {all !== reading && <option value="all">{describePermission(all)}</option>}
          </select>
        </label>
      ))}
      <label>
        Expires after
        <select name="lifetime" value={LIMITS.loginCodeLifetime}>
          {LIFETIMES.map(([label, seconds]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </Form>
  );
}

/** A code that waits for a terminal, and then the terminal that uses it. The person can end that login. */

const PAUSE = 2_000; // milliseconds
/** The time after the arrival of a code after which no terminal can appear. The service has some seconds to answer the last terminal. */
const WAIT = (LIMITS.loginCode + 10) * 1000; // milliseconds

type Terminal = NonNullable<ListedToken["login"]>;
type State = "waiting" | "expired" | "ended" | Terminal;

interface Props {
  readonly code: LoginCode;
  /** Shows the form again. */
  readonly onAgain: () => void;
}

function MadeCode({ code, onAgain }: Props) {
  const state = useSignal<State>("waiting");
  useLayoutEffect(() => {
    const arrival = performance.now();
    let isLeft = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const isLast = performance.now() - arrival > WAIT;
      const terminal = await loadTerminal(code.id).catch(() => undefined);
      if (isLeft) return;
      if (terminal || (terminal === null && isLast)) state.value = terminal ?? "expired";
      else timer = setTimeout(() => void poll(), PAUSE);
    };
    timer = setTimeout(() => void poll(), PAUSE);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, []);
  const end = async () => {
    await call("DELETE /v1/tokens/{token}", { path: { token: code.id } });
    state.value = "ended";
  };
  const isUsed = typeof state.value === "object";
  return (
    <>
      {state.value === "waiting" && <Steps code={code} />}
      <output>{sentenceOf(state.value)}</output>
      {isUsed && (
        <Form action={end} submit="End it" danger cancel="Create another code" onCancel={onAgain}>
          <p class="quiet">Program: {(state.value as Terminal).program || "unknown"}</p>
        </Form>
      )}
      {!isUsed && state.value !== "waiting" && (
        <div class="buttons">
          <button type="button" class="primary" onClick={onAgain}>
            Create another code
          </button>
        </div>
      )}
    </>
  );
}

/** Returns the terminal that uses a code, by the id of its token, or null. Throws an ItemVaultError. */
async function loadTerminal(id: string): Promise<Terminal | null> {
  const { data } = await call("GET /v1/tokens");
  const token = data.find((one) => one.id === id);
  if (!token) return null;
  return ("login" in token && token.login) || { address: "", program: "" };
}

const TEXTS = {
  waiting: "Waiting for the terminal…",
  expired: "The code has expired. No terminal uses it.",
  ended: "The login has ended. The terminal has lost access.",
};

const sentenceOf = (state: State): string =>
  typeof state === "string" ? TEXTS[state] : `A terminal at ${state.address || "an unknown address"} uses it.`;

function Steps({ code }: { readonly code: LoginCode }) {
  return (
    <>
      <p>
        Run this command in the terminal, and paste the code there within {LIMITS.loginCode / 60} minutes. It works once.{" "}
        <strong>Paste it only into a terminal that you opened.</strong>
      </p>
      <pre class="token-text">{`item-vault login --code --host ${location.origin}`}</pre>
      <label>
        Code
        <input readOnly value={code.code} spellcheck={false} />
      </label>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void copy("Code", code.code)}>
          Copy code
        </button>
      </div>
    </>
  );
}
