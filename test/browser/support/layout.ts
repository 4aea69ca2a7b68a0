import type { Page } from "playwright-core";

/** What a person cannot press, or not read, although it is in the window. */

/**
 * The names of the buttons and links in the window of whose middle another element is on top; of a page with a modal dialog only those in
 * it. What a scrolled part of the page hides is not in the window.
 */
export const coveredButtons = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const root = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document;
    // The function is sent to the page as a whole.
    // oxlint-disable-next-line unicorn/consistent-function-scoping
    const isClipped = (element: Element, x: number, y: number): boolean => {
      for (let box = element.parentElement; box; box = box.parentElement) {
        const { left, right, top, bottom } = box.getBoundingClientRect();
        if (getComputedStyle(box).overflow !== "visible" && (x < left || x > right || y < top || y > bottom)) return true;
      }
      return x < 0 || y < 0 || x > innerWidth || y > innerHeight;
    };
    return [...root.querySelectorAll("button, a, input, select")].flatMap((element) => {
      // Of a link of several lines the first one: the middle of all of them may be between two.
      const { left, top, width, height } = element.getClientRects()[0] ?? new DOMRect();
      const [x, y] = [left + width / 2, top + height / 2];
      if (width === 0 || !element.checkVisibility({ visibilityProperty: true }) || isClipped(element, x, y)) return [];
      const found = document.elementFromPoint(x, y);
      // The border and the padding of a dialog hide what scrolls past its edge, which can be scrolled into view.
      if (found === root) return [];
      // What scrolls below a part that stays in view can be scrolled into view. Messages are no such part.
      const sticky = found?.closest(".save-bar, thead, .buttons");
      if (sticky && getComputedStyle(sticky.querySelector("th") ?? sticky).position === "sticky") return [];
      const isOwn = found !== null && (element.contains(found) || found.closest("label")?.contains(element) === true);
      return isOwn ? [] : [element.getAttribute("aria-label") ?? element.textContent ?? element.tagName];
    });
  });

/** Keeps the messages of the page, which disappear after some seconds. */
export const keepMessages = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const start = setTimeout;
    const keep = (run: () => void, delay = 0): unknown => (delay >= 5_000 ? 0 : start(run, delay));
    Object.assign(window, { setTimeout: keep });
  });
