import { render } from "preact";
import { hasSignInCode, startSession } from "./state/sign-in.ts";
import { App } from "./app.tsx";
import { takeAskedLogin } from "./state/provider.ts";
import { followWrites } from "./state/follow.ts";
import { isolateTexts } from "./ui/isolate.ts";
import { restoreLook } from "./ui/look.ts";

// A link that is opened in a tab with the console changes the fragment only.
addEventListener("hashchange", () => {
  if (hasSignInCode()) location.reload();
});

restoreLook();
takeAskedLogin();
isolateTexts();
render(<App />, document.getElementById("app")!);
await startSession();
followWrites();
