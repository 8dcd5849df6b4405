/** Paths in a document: segments, and their format in messages. */

export type Path = ReadonlyArray<string | number>

/** Formats a path, e.g. `triggers[0].webhook_secret_env`, `workspaces.instances["a.b"].review`. */
export const formatPath = (path: Path): string =>
  path.reduce<string>((text, segment) => {
    if (typeof segment === "number") return `${text}[${segment}]`
    if (!/^[A-Za-z0-9_-]+$/.test(segment)) return `${text}[${JSON.stringify(segment)}]`
    return text === "" ? segment : `${text}.${segment}`
  }, "")

/** Parses a path as `formatPath` writes it. */
export const parsePath = (text: string): Path =>
  [...text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, plain]) =>
    index !== undefined ? Number(index) : quoted !== undefined ? String(JSON.parse(quoted)) : (plain ?? "")
  )

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Returns the value at a path of plain objects and lists; undefined if there is none. */
export const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, segment) => {
    if (typeof segment === "number") return Array.isArray(value) ? value[segment] : undefined
    return isRecord(value) && Object.hasOwn(value, segment) ? value[segment] : undefined
  }, root)

/** Returns a copy with another value at a path; undefined removes the field or element. Missing maps are made. */
export const withValueAt = (value: unknown, path: Path, next: unknown): unknown => {
  const [segment, ...rest] = path
  if (segment === undefined) return next
  if (typeof segment === "number") {
    const items: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
    const item = withValueAt(items[segment], rest, next)
    return item === undefined
      ? items.filter((_, index) => index !== segment)
      : [...items.slice(0, segment), item, ...items.slice(segment + 1)]
  }
  const { [segment]: below, ...others } = isRecord(value) ? value : {}
  const inner = withValueAt(below, rest, next)
  return inner === undefined ? others : { ...others, [segment]: inner }
}
