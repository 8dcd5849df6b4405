/** Reads JSON of platforms: values of unexpected types count as absent. Never throws. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const parseJson = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const own = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** Returns the object at these keys, an empty one if there is none. */
export const objectAt = (value: unknown, ...keys: ReadonlyArray<string>): JsonObject => {
  const found = keys.reduce<unknown>(own, value)
  return isObject(found) ? found : {}
}

/** Returns the text at these keys; undefined if it is absent, empty, or longer than `max`. */
export const textAt = (value: unknown, keys: ReadonlyArray<string>, max = 512): string | undefined => {
  const found = keys.reduce<unknown>(own, value)
  return typeof found === "string" && found !== "" && found.length <= max ? found : undefined
}

export const numberAt = (value: unknown, ...keys: ReadonlyArray<string>): number | undefined => {
  const found = keys.reduce<unknown>(own, value)
  return typeof found === "number" && Number.isFinite(found) ? found : undefined
}

export const listAt = (value: unknown, ...keys: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const found = keys.reduce<unknown>(own, value)
  return Array.isArray(found) ? found : []
}
