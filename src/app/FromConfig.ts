/** A layer that the configuration in force chooses. */
import { Effect, Layer } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"

export const fromConfig = <A, E, R>(
  make: (snapshot: Snapshot) => Layer.Layer<A, E, R>
): Layer.Layer<A, E, R | ConfigStore> => Layer.unwrap(Effect.map(ConfigStore, (config) => make(config.current())))
