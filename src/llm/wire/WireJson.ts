/** Reads fields of untrusted JSON without exceptions. Pure. */

export type WireJson = Readonly<Record<string, unknown>>

export const isJson = (value: unknown): value is WireJson =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the object, or an empty one. */
export const toJson = (value: unknown): WireJson => (isJson(value) ? value : {})

/** Returns the objects of a list; other elements are dropped. */
export const toList = (value: unknown): ReadonlyArray<WireJson> => (Array.isArray(value) ? value.filter(isJson) : [])

export const toText = (value: unknown): string => (typeof value === "string" ? value : "")

export const toNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined

/** Returns an object without some fields. */
export const without = (json: WireJson, fields: ReadonlyArray<string>): WireJson =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !fields.includes(name)))

/** Parses arguments of a tool call; text that is not JSON is returned unchanged. */
export const parseArguments = (text: string): unknown => {
  try {
    return text.trim() === "" ? {} : JSON.parse(text)
  } catch {
    return text
  }
}
