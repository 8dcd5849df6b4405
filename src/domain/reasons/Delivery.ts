/** Reasons why a delivery started work or none, and what became of it. */
import type { Params } from "../ReasonParams.ts"

export const deliveryReasons = {
  /** A command of a comment. */
  WriterUnnamed: {},
  CommandCancelled: {},
  HelpPosted: {},
  /** The server of no trigger has what a hook or a person names. */
  ReportedRevisionUnknown: { revision: "text" },
  ReportedChangelistUnknown: { revision: "text" }
} as const satisfies Record<string, Params>
