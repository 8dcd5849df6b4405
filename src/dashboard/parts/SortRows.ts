/** Sorts the rows of a table by one of its columns. Pure. */

type Value = string | number | null | undefined

const readerOf = <A>(values: Readonly<Record<string, A>>, name: string): A | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** Returns the rows in the order that the address names. Missing values come last. */
export const sortRows = <Row>(
  rows: ReadonlyArray<Row>,
  sort: string | undefined,
  values: Readonly<Record<string, (row: Row) => Value>>
): ReadonlyArray<Row> => {
  const isDescending = sort?.startsWith("-") === true
  const read = sort === undefined ? undefined : readerOf(values, isDescending ? sort.slice(1) : sort)
  if (read === undefined) return rows
  const direction = isDescending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [left, right] = [read(one) ?? null, read(other) ?? null]
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1
    return (
      direction *
      (typeof left === "string" || typeof right === "string" ? String(left).localeCompare(String(right)) : left - right)
    )
  })
}
