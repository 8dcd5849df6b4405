/** The revisions of the database for commands, which open its store without the service. Wiring only. */
import { Duration, Effect, Layer } from "effect"
import { StoreError } from "../database/StoreError.ts"
import { StoredRevisions } from "../cli/ReadSnapshot.ts"

/** Timeout for opening and reading the store. */
const timeoutSeconds = 10

export const layer = Layer.succeed(
  StoredRevisions,
  StoredRevisions.of({
    read: (bootstrap) =>
      Effect.promise(() => import("./ConfigSource.ts")).pipe(
        Effect.flatMap(({ readExisting }) => readExisting(bootstrap)),
        Effect.timeoutOrElse({
          duration: Duration.seconds(timeoutSeconds),
          orElse: () =>
            Effect.fail(
              new StoreError({
                reason: "unavailable",
                operation: "open",
                why: { _tag: "StoreSilent", seconds: timeoutSeconds }
              })
            )
        })
      )
  })
)
