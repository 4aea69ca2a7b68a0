/** Icons: one path each, drawn in the colour of the text. They carry no meaning of their own, so screen readers skip them. */

const PATHS = {
  search:
    "M10.5 4a6.5 6.5 0 1 0 4 11.6l4.9 4.9 1.1-1.1-4.9-4.9A6.5 6.5 0 0 0 10.5 4Zm0 1.6a4.9 4.9 0 1 1 0 9.8 4.9 4.9 0 0 1 0-9.8Z",
  copy: "M8 3h13v13h-1.6V4.6H8V3ZM3 7h14v14H3V7Zm1.6 1.6v10.8h10.8V8.6H4.6Z",
  eye: "M12 5c5 0 8.6 4.2 10 7-1.4 2.8-5 7-10 7S3.4 14.8 2 12c1.4-2.8 5-7 10-7Zm0 3.8a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4Z",
  star: "m12 3 2.7 5.9 6.3.7-4.7 4.3 1.3 6.3-5.6-3.2-5.6 3.2 1.3-6.3L3 9.6l6.3-.7L12 3Z",
  vault:
    "M3 3h18v18H3V3Zm1.6 1.6v14.8h14.8V4.6H4.6ZM12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8Zm0 1.6a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8Z",
  back: "m14.5 5 1.2 1.2L9.9 12l5.8 5.8-1.2 1.2-7-7 7-7Z",
  plus: "M11.2 5h1.6v6.2H19v1.6h-6.2V19h-1.6v-6.2H5v-1.6h6.2V5Z",
  download: "M11.2 4h1.6v8.9l3.3-3.3 1.1 1.1-5.2 5.2-5.2-5.2 1.1-1.1 3.3 3.3V4ZM5 18.4h14V20H5v-1.6Z",
  more: "M6 10.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3Zm6 0a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3Zm6 0a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3Z",
  clock:
    "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18Zm0 1.6a7.4 7.4 0 1 0 0 14.8 7.4 7.4 0 0 0 0-14.8Zm.8 3v4.1l2.9 2.9-1.1 1.1-3.4-3.4V7.6h1.6Z",
  archive: "M4 4h16v5h-1v11H5V9H4V4Zm1.6 1.6v1.8h12.8V5.6H5.6ZM6.6 9v9.4h10.8V9H6.6Zm2.9 2.5h5v1.6h-5v-1.6Z",
  bin: "M9 3h6v2h5v1.6h-1.2L18 21H6L5.2 6.6H4V5h5V3Zm-2.2 3.6.7 12.8h9l.7-12.8H6.8ZM9.5 9h1.5v8H9.5V9Zm3.5 0h1.5v8H13V9Z",
  tag: "M4 4h8.5l8 8-8.5 8.5-8-8V4Zm1.6 1.6v6.2l6.4 6.4 6.2-6.2-6.4-6.4H5.6ZM8.5 7a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3Z",
  sort: "M8 4l4 4.5-1.2 1L8.8 7.3V20H7.2V7.3L5.2 9.5 4 8.5 8 4Zm8 16-4-4.5 1.2-1 2 2.2V4h1.6v12.7l2-2.2 1.2 1L16 20Z",
  down: "m6.5 9 5.5 5.5L17.5 9l1.1 1.1L12 16.7l-6.6-6.6L6.5 9Z",
  items: "M4 5h3v3H4V5Zm5 .7h11v1.6H9V5.7ZM4 10.5h3v3H4v-3Zm5 .7h11v1.6H9v-1.6ZM4 16h3v3H4v-3Zm5 .7h11v1.6H9v-1.6Z",
  check: "m5 12.5 1.2-1.2 3.8 3.8L18.3 6.5l1.2 1.2-9.5 9.8-5-5Z",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
