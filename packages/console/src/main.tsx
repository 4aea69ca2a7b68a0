import { render } from "preact";
import { App } from "./app.tsx";
import { followWrites } from "./state/follow.ts";
import { takeAskedLogin } from "./state/provider.ts";
import { hasSignInCode, startSession } from "./state/sign-in.ts";
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
