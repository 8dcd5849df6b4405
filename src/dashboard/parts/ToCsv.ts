/** Converts records to a table of comma-separated values that a spreadsheet shows and does not calculate. Pure. */

type Cells = ReadonlyMap<string, unknown>

/** Returns the values of a record by the names of its fields; those of a nested record have names such as `run.status`. */
const toCells = (record: unknown, prefix = ""): Cells => {
  const cells = new Map<string, unknown>()
  for (const [name, value] of Object.entries(Object(record))) {
    if (typeof value === "object" && value !== null && !Array.isArray(value) && !("_tag" in value))
      for (const [inner, cell] of toCells(value, `${prefix}${name}.`)) cells.set(inner, cell)
    else cells.set(`${prefix}${name}`, value)
  }
  return cells
}

/** Beginnings of texts that spreadsheets take for formulas. */
const formula = /^[=+\-@\t\r]/

const toText = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (typeof value !== "string") return typeof value === "object" ? JSON.stringify(value) : String(value)
  return formula.test(value) ? `'${value}` : value
}

const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** `describe`: returns the text of a reason. The first line has the names of the columns. */
export const toCsv = (records: ReadonlyArray<unknown>, describe: (reason: object) => string): string => {
  const rows = records.map((record) => toCells(record))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const format = (value: unknown): string =>
    quote(toText(typeof value === "object" && value !== null && "_tag" in value ? describe(value) : value))
  return [names.map(quote), ...rows.map((row) => names.map((name) => format(row.get(name))))]
    .map((cells) => `${cells.join(",")}\r\n`)
    .join("")
}
