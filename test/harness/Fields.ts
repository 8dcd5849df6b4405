/** Reading JSON bodies of unknown shape in fake servers. */
export const field = <A>(body: unknown, name: string, is: (value: unknown) => value is A): A | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const value = new Map<string, unknown>(Object.entries(body)).get(name)
  return is(value) ? value : undefined
}
export const isText = (value: unknown): value is string => typeof value === "string"
export const isNumber = (value: unknown): value is number => typeof value === "number"
export const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)
export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null
