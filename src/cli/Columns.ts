/** Formats a table, its columns as wide as their widest cell. The first `left` columns are left-aligned, the others right-aligned. */
export const columns = (rows: ReadonlyArray<ReadonlyArray<string>>, left = Number.POSITIVE_INFINITY): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell[column < left ? "padEnd" : "padStart"](widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
