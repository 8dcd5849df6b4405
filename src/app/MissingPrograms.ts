/** Warns of programs that the configuration needs and this node lacks, when it starts and when a configuration adds one. Each once. */
import { Effect, Layer, Stream } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { hasProgram, listPrograms } from "../config/Requirements.ts"
import type { Snapshot } from "../config/Snapshot.ts"

export const missingPrograms = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    const warned = new Set<string>()
    const warn = (snapshot: Snapshot) =>
      Effect.forEach(listPrograms(snapshot), ({ install, name, why }) =>
        Effect.flatMap(hasProgram(name), (isFound) => {
          if (isFound || warned.has(name)) return Effect.void
          warned.add(name)
          return Effect.logWarning("program missing, reviews that need it fail", {
            program: name,
            needed_for: why,
            advice: install
          })
        })
      )
    yield* Stream.concat(Stream.sync(config.current), config.changes).pipe(
      Stream.runForEach(warn),
      Effect.forkScoped({ startImmediately: true })
    )
  })
)
