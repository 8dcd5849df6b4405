/** Implementation of `aicr chat`. Wiring only. */
import { Effect } from "effect"
import { checkChat } from "../chat/CheckChat.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import * as Logging from "../observability/Logging.ts"
import { loadForStores } from "./CommandConfig.ts"

/** Failures are part of the report, so the log is silent. */
export const checkConnection = (config: string, connection: string, to: string | undefined) =>
  Effect.flatMap(loadForStores(config).pipe(endWithCode), (snapshot) => checkChat(snapshot, connection, to)).pipe(
    Effect.provide(Logging.layerAt("error"))
  )
