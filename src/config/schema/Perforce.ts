/** Schema of `perforce`: the client program of this machine. Never edited by the database source, because it is executed. */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { optional } from "../fields/Field.ts"
import { Text } from "../fields/Scalars.ts"

export const PerforceConfig = Schema.Struct({
  client_path: optional(Text, "perforce.client_path", {
    defaultText: "`p4` on the PATH"
  })
})
export type PerforceConfig = Resolved<typeof PerforceConfig>
