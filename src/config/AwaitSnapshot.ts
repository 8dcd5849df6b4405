/** Waits for a configuration that needs work, so that nothing is polled before it. */
import { Effect, Stream } from "effect"
import { ConfigStore } from "./ConfigStore.ts"
import type { Snapshot } from "./Snapshot.ts"

/** Interval in which the current configuration is read as well, for a change that was published before this subscribed. */
const netInterval = "30 seconds"

/** Waits until the current configuration fits. */
export const awaitSnapshot = (fits: (snapshot: Snapshot) => boolean): Effect.Effect<void, never, ConfigStore> =>
  Effect.flatMap(ConfigStore, (config) => {
    const changed = Stream.runHead(Stream.concat(Stream.filter(config.changes, fits), Stream.never))
    const wait: Effect.Effect<void> = Effect.suspend(() =>
      fits(config.current())
        ? Effect.void
        : Effect.andThen(Effect.raceFirst(Effect.asVoid(changed), Effect.sleep(netInterval)), wait)
    )
    return wait
  })
