import { useMemo } from "preact/hooks";
import { encodeQR } from "qr";
import { type FieldProps, labelOf } from "../items/field-types.ts";
import { Dialog, Done } from "../ui/dialog.tsx";
import { named } from "../ui/texts.ts";
import { keyUriOf } from "./key-uri.ts";

/** A dialog that shows the key of a one-time password as a QR code. It is drawn in the page, and removed when the dialog is closed. */
export function QrDialog({ field, item, onClose }: FieldProps & { readonly onClose: () => void }) {
  const rows = useMemo(() => rowsOf(keyUriOf(field, item)), [field.value]);
  const label = named(labelOf(field));
  return (
    <Dialog title={`QR code of ${label}`} onClose={onClose}>
      {rows ? (
        <>
          <p>Scan with your authenticator app. Anyone who scans this can generate your codes.</p>
          <figure class="qr" aria-label={`The key of ${label} as a QR code`}>
            <svg viewBox={`0 0 ${rows.length} ${rows.length}`} shape-rendering="crispEdges" aria-hidden="true">
              <path d={rows.flatMap(pathOf).join("")} />
            </svg>
          </figure>
        </>
      ) : (
        <p>This key is too long for a QR code.</p>
      )}
      <Done onClose={onClose} />
    </Dialog>
  );
}

/** Modules of the light margin around a code (ISO/IEC 18004 section 6.3.8). */
const BORDER = 4;

/** Returns the modules of the code of a text, `true` for dark ones. Returns undefined if no code has room for it. */
function rowsOf(text: string | undefined): readonly boolean[][] | undefined {
  try {
    return text === undefined ? undefined : encodeQR(text, "raw", { border: BORDER });
  } catch {
    return undefined;
  }
}

/** The dark modules of a row as a path of SVG, each run of them as one rectangle. */
function pathOf(row: readonly boolean[], y: number): string[] {
  const starts = row.flatMap((dark, x) => (dark && !row[x - 1] ? [x] : []));
  return starts.map((start) => {
    const end = row.indexOf(false, start);
    const length = (end < 0 ? row.length : end) - start;
    return `M${start} ${y}h${length}v1h-${length}z`;
  });
}
