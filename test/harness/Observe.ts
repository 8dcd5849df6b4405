/** Replaces a method by one that calls functions before and after it. */
export const observe = <A extends object, K extends keyof A>(
  holder: A,
  name: K,
  before: (self: A, input: ReadonlyArray<unknown>) => void,
  after?: (self: A, result: object) => void
): void => {
  const method: unknown = holder[name]
  if (typeof method !== "function") throw new TypeError(`${String(name)} is not a method`)
  Object.defineProperty(holder, name, {
    configurable: true,
    writable: true,
    value(this: A, ...input: ReadonlyArray<unknown>): unknown {
      before(this, input)
      const result: unknown = Reflect.apply(method, this, input)
      if (after !== undefined && typeof result === "object" && result !== null) after(this, result)
      return result
    }
  })
}
