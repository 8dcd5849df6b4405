/** Values of a form: plain JSON with masks in place of stored credentials. Pure. */

/** Text that the service shows in place of a credential. */
export const mask = "********"

export type FieldPath = ReadonlyArray<string>
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const toFields = (value: unknown): Fields => (isFields(value) ? value : {})

/** Parses a path as the service writes it: `triggers[0].name`, `instances["a.b"].review`. */
export const parsePath = (text: string): FieldPath =>
  [...text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, plain]) =>
    quoted === undefined ? (index ?? plain ?? "") : String(JSON.parse(quoted))
  )

/** Name of an element of a list: its own, or its position. */
export const elementName = (item: unknown, index: number): string => {
  const { alias, id, name } = toFields(item)
  const own = [id, name, alias].find((text) => typeof text === "string" && text !== "")
  return typeof own === "string" ? own : String(index)
}

const findElement = (items: ReadonlyArray<unknown>, name: string): number => {
  const named = items.findIndex((item, index) => elementName(item, index) === name)
  return named === -1 ? Number(name) : named
}

/** Returns a copy with another value at a path; undefined removes it. Missing groups are made, and empty ones removed. */
export const withValue = (root: unknown, path: FieldPath, next: unknown): unknown => {
  const [name, ...rest] = path
  if (name === undefined) return next
  if (Array.isArray(root)) {
    const index = findElement(root, name)
    const item = withValue(root[index], rest, next)
    return item === undefined ? root.filter((_, at) => at !== index) : root.with(index, item)
  }
  const { [name]: below, ...others } = toFields(root)
  const inner = withValue(below, rest, next)
  return inner === undefined
    ? Object.keys(others).length === 0
      ? undefined
      : others
    : { ...toFields(root), [name]: inner }
}

export const containsMask = (value: unknown): boolean =>
  value === mask ||
  (Array.isArray(value) ? value.some(containsMask) : isFields(value) && Object.values(value).some(containsMask))

/** Returns the value without masks: the service keeps the credentials that an update omits. */
export const omitMasks = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(omitMasks)
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (inner === mask ? [] : [[name, omitMasks(inner)]]))
  )
}

export const isSame = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  if (!isFields(one) || !isFields(other)) return false
  const [left, right] = [Object.keys(one), Object.keys(other)]
  return left.length === right.length && left.every((name) => isSame(one[name], other[name]))
}
