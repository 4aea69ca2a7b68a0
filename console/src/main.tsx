import { render } from "preact";
import { startSession } from "./api/session.ts";
import { App } from "./app.tsx";

/** The start of the console. */

const root = document.getElementById("app")!;
render(<App />, root);
render(<App message={await startSession()} />, root);
