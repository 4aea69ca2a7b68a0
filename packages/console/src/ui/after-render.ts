/**
 * Calls a function after the page shows the change. Preact renders in a microtask that the change has queued before this one. The function
 * runs before the next key or click. One that waits for a frame would move the focus away from a faster user.
 */
export const afterRender = (run: () => void): void => queueMicrotask(run);
