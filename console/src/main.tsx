import { render } from "preact";
import { startSession } from "./api/session.ts";
import { App } from "./app.tsx";

/** The start of the console. */

render(<App />, document.getElementById("app")!);
await startSession();
