import { useLayoutEffect, useRef } from "preact/hooks";
import type { Import } from "./create-import.ts";
import type { Problem } from "./stage.ts";

/** Asks for the password of an encrypted file. */
export function PasswordForm({ shown, problem }: { readonly shown: Import; readonly problem: Problem | undefined }) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    shown.read({ password: input.current!.value });
  };
  return (
    <form onSubmit={onSubmit}>
      <h2>{shown.file.value?.name} is encrypted</h2>
      <label>
        File password
        <input ref={input} type="password" required autocomplete="one-time-code" aria-describedby="password-problem" />
      </label>
      <p id="password-problem" class={problem ? "failure" : "quiet"} role={problem && "alert"}>
        {problem?.text ?? "You set it when you exported the file. It never leaves this page."}
      </p>
      <p class="actions">
        <button class="primary">Open</button>
        <button type="button" onClick={shown.close}>
          Choose another file
        </button>
      </p>
    </form>
  );
}
