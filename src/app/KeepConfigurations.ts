/** Each configuration is in the record store before work is admitted under it. Wiring only. */
import { Effect, Layer } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { Configurations } from "../store/configuration/Configurations.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* (yield* ConfigStore).keepIn(yield* Configurations)
  })
)
