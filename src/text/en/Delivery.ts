/** Reasons why a delivery started work or none, and what became of it. */
import type { deliveryReasons } from "../../domain/reasons/Delivery.ts"

export const deliveryTexts = {
  WriterUnnamed: "the delivery does not name the writer of the comment",
  CommandCancelled: "waiting reviews are cancelled, running ones are stopped",
  ReportedRevisionUnknown:
    "revision_not_found: no trigger's repository has revision {revision}, or its user may not read it",
  ReportedChangelistUnknown:
    "revision_not_found: no trigger's server has changelist {revision}, or its user may not read it",
  HelpPosted: "the help text is posted"
} as const satisfies Record<keyof typeof deliveryReasons, string>
