/** Implementation of `aicr chat`. Wiring only. */
import { existsSync } from "node:fs"
import { Effect, Layer } from "effect"
import { checkChat } from "../chat/CheckChat.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import type { StoreError } from "../database/StoreError.ts"
import * as Logging from "../observability/logs/Logging.ts"
import { ChatSends } from "../store/ChatSends.ts"
import { loadForStores } from "./CommandConfig.ts"
import { layerRecords, locateDatabase } from "./Database.ts"

/** Counts messages in the records of the service, which are opened only for that. Before its first start it has sent none. */
const sendsOf = (snapshot: Snapshot): ChatSends["Service"] => {
  const location = locateDatabase(snapshot)
  const isNew = location.kind === "sqlite" && !existsSync(location.path)
  const inRecords = <A>(use: (sends: ChatSends["Service"]) => Effect.Effect<A, StoreError>) =>
    Effect.provide(Effect.flatMap(ChatSends, use), layerRecords(snapshot, "verify"))
  return ChatSends.of({
    take: (...count) => (isNew ? Effect.succeed(true) : inRecords(({ take }) => take(...count))),
    refund: (...count) => (isNew ? Effect.void : inRecords(({ refund }) => refund(...count)))
  })
}

/** Failures are part of the report, so the log is silent. */
export const checkConnection = (config: string, connection: string, to: string | undefined) =>
  Effect.flatMap(loadForStores(config).pipe(endWithCode), (snapshot) =>
    Effect.provide(checkChat(snapshot, connection, to), Layer.succeed(ChatSends, sendsOf(snapshot)))
  ).pipe(Effect.provide(Logging.layerAt("error")))
