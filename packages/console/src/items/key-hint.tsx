/** The key that copies a value, which is shown while the pointer is on its row. */
export const KeyHint = ({ copyKey }: { readonly copyKey: string | undefined }) =>
  copyKey !== undefined && (
    <kbd class="hint" aria-hidden="true">
      {copyKey}
    </kbd>
  );
