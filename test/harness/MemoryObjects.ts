/** Objects in memory. */
import { Effect, Layer } from "effect"
import { Objects } from "../../src/store/Objects.ts"

export const memoryObjects: Layer.Layer<Objects> = Layer.sync(Objects, () => {
  const stored = new Map<string, string>()
  const below = (prefix: string) => [...stored.keys()].filter((key) => key.startsWith(`${prefix}/`))
  return Objects.of({
    put: (key, content) => Effect.sync(() => void stored.set(key, Buffer.from(content).toString("utf8"))),
    has: (key) => Effect.sync(() => stored.has(key)),
    get: (key) => Effect.sync(() => stored.get(key)),
    list: (prefix) =>
      Effect.sync(() =>
        [...new Set(below(prefix).map((key) => key.slice(prefix.length + 1).split("/", 1)[0] ?? ""))].toSorted()
      ),
    remove: (prefix) =>
      Effect.sync(() => {
        for (const key of [prefix, ...below(prefix)]) stored.delete(key)
      })
  })
})
