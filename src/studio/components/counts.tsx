// Shows how many lines were added and removed, with signs beside the colours.
/** Shows how many lines were added and removed. */
export function Counts({ added, removed }: { added: unknown; removed: unknown }) {
  return (
    <>
      {typeof added === "number" && (added > 0 || !removed) && <span class="cr-good">+{added}</span>}{" "}
      {typeof removed === "number" && removed > 0 && <span class="cr-bad">−{removed}</span>}
    </>
  );
}
