import { session } from "../state/session.ts";

/** How people sign in, and which settings that needs, unless they are set. */
export function AccessHelp({ open }: { readonly open: boolean }) {
  return (
    <details class="help" open={open}>
      <summary>How people sign in</summary>
      <p>
        Cloudflare Access asks people who open this console to sign in as usual in your organization. People on this list get
        their vaults without a token. The activity log shows their email address.
      </p>
      {session.value!.settings.access ? <p>This service is set up for it.</p> : <Setup />}
    </details>
  );
}

const Setup = () => (
  <p>
    This service is not set up for it yet: nobody on this list can sign in. It needs an Access application for the path{" "}
    <code>/console</code>, and two settings of this service: <code>ACCESS_TEAM</code>, the name of your Cloudflare Access team,
    and <code>ACCESS_AUD</code>, the audience tag of the application. They are described in <code>docs/configuration.md</code>.
    You can invite people before you set this up.
  </p>
);
