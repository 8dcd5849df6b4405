/** How a command ends with a code of its own (decisions section 10): 1 problems found, 2 usage or configuration, 3 run failed. */
import { Schema } from "effect"

export class ExitWith extends Schema.TaggedError<ExitWith>()("ExitWith", {
  code: Schema.Int,
  /** Printed to stderr when not empty. */
  message: Schema.String
}) {}
