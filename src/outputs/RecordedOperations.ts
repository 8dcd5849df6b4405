/** Records of operations, by which texts at a host are recognised as those of the service. */
import { Context, Effect } from "effect"
import type { OperationId } from "../domain/Keys.ts"
import type { Operation } from "../domain/Publication.ts"
import type { ForgeError } from "../forge/ForgeError.ts"

/** Returns the operation with this id; undefined without a record, and where there are no records (`aicr review --publish`). */
export const RecordedOperations = Context.Reference<
  (id: OperationId) => Effect.Effect<Operation | undefined, ForgeError>
>("aicr/outputs/RecordedOperations", { defaultValue: () => () => Effect.succeed(undefined) })
