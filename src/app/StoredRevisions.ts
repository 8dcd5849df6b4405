/** The revisions of the database for commands, which open its store without the service. Wiring only. */
import { Effect, Layer } from "effect"
import { StoredRevisions } from "../cli/ReadSnapshot.ts"

/** Timeout for opening and reading the store. */
const timeout = "10 seconds"

export const layer = Layer.succeed(
  StoredRevisions,
  StoredRevisions.of({
    read: (bootstrap) =>
      Effect.promise(() => import("./ConfigSource.ts")).pipe(
        Effect.flatMap(({ readExisting }) => readExisting(bootstrap)),
        Effect.timeoutOrElse({
          duration: timeout,
          orElse: () => Effect.fail({ message: `its store does not respond within ${timeout}` })
        })
      )
  })
)
