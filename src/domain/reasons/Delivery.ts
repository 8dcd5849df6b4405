/** Reasons why a delivery started work or none, and what became of it. */
import type { Params } from "../ReasonParams.ts"

export const deliveryReasons = {
  /** A command of a comment. */
  WriterUnnamed: {},
  CommandCancelled: {},
  HelpPosted: {}
} as const satisfies Record<string, Params>
