/** A unified diff as the demo forge needs it: which lines a comment may stand on, and the rows of the page. Pure. */
export interface DiffLine {
  readonly kind: "context" | "added" | "removed"
  readonly oldLine: number | undefined
  readonly newLine: number | undefined
  readonly text: string
}

export interface DiffFile {
  readonly oldPath: string
  readonly path: string
  readonly note: string | undefined
  readonly hunks: ReadonlyArray<{ readonly header: string; readonly lines: ReadonlyArray<DiffLine> }>
}

const unquoted = (path: string): string => {
  if (!path.startsWith('"')) return path
  const bytes: Array<number> = []
  const inner = Buffer.from(path.slice(1, -1))
  for (let i = 0; i < inner.length; i++) {
    const byte = inner[i] ?? 0
    if (byte !== 0x5c) {
      bytes.push(byte)
      continue
    }
    const rest = inner.subarray(i + 1, i + 4).toString("latin1")
    if (/^[0-7]{3}$/.test(rest)) {
      bytes.push(Number.parseInt(rest, 8))
      i += 3
      continue
    }
    const escapes: Record<string, number> = { n: 10, t: 9, r: 13, '"': 34, "\\": 92, a: 7, b: 8, f: 12, v: 11 }
    bytes.push(escapes[rest[0] ?? ""] ?? 63)
    i += 1
  }
  return Buffer.from(bytes).toString("utf8")
}

const sidePath = (text: string, prefix: "a/" | "b/"): string | undefined => {
  const path = unquoted(text.replace(/\t$/, ""))
  return path === "/dev/null" ? undefined : path.startsWith(prefix) ? path.slice(2) : path
}

export const parseDiff = (diff: string): ReadonlyArray<DiffFile> =>
  diff
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map(parseFile)

const parseFile = (part: string): DiffFile => {
  const rows = part.split("\n")
  if (rows.at(-1) === "") rows.pop()
  let oldPath: string | undefined
  let path: string | undefined
  let note: string | undefined
  const hunks: Array<{ header: string; lines: Array<DiffLine> }> = []
  let oldLine = 0
  let newLine = 0
  for (const row of rows) {
    const hunk = hunks.at(-1)
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(row)
    if (start !== null) {
      oldLine = Number(start[1])
      newLine = Number(start[2])
      hunks.push({ header: row, lines: [] })
    } else if (hunk === undefined) {
      if (row.startsWith("--- ")) oldPath = sidePath(row.slice(4), "a/")
      else if (row.startsWith("+++ ")) path = sidePath(row.slice(4), "b/")
      else if (row.startsWith("rename from ")) oldPath = unquoted(row.slice(12))
      else if (row.startsWith("rename to ")) path = unquoted(row.slice(10))
      else if (row.startsWith("Binary files ")) note = "binary file"
      else if (row.startsWith("new file mode")) note = "new file"
      else if (row.startsWith("deleted file mode")) note = "deleted"
    } else if (row.startsWith("+")) {
      hunk.lines.push({ kind: "added", oldLine: undefined, newLine: newLine++, text: row.slice(1) })
    } else if (row.startsWith("-")) {
      hunk.lines.push({ kind: "removed", oldLine: oldLine++, newLine: undefined, text: row.slice(1) })
    } else if (row.startsWith(" ")) {
      hunk.lines.push({ kind: "context", oldLine: oldLine++, newLine: newLine++, text: row.slice(1) })
    }
  }
  const named = /^diff --git a\/(.+) b\/(.+)$/.exec(rows[0] ?? "")
  const known = path ?? oldPath ?? named?.[2] ?? ""
  return { oldPath: oldPath ?? known, path: known, note, hunks }
}

/** The line of the diff at this place; undefined where a host would refuse a comment. */
export const lineAt = (
  files: ReadonlyArray<DiffFile>,
  path: string,
  side: "new" | "old",
  line: number
): DiffLine | undefined =>
  files
    .find((file) => file.path === path || (side === "old" && file.oldPath === path))
    ?.hunks.flatMap((hunk) => hunk.lines)
    .find((row) => (side === "new" ? row.newLine : row.oldLine) === line)
