/** Selects the texts about what became of a delivery, the same on every page. Pure. */

export interface DeliveryState {
  readonly decision: string
  readonly event?: string
  readonly reason?: string
  readonly outcome?: string
  readonly command?: string
}

/** Returns the outcome of a delivery for lists and pages: a command other than review reviews nothing. */
export const shownOutcome = ({ command, outcome = "" }: DeliveryState): string =>
  outcome === "executed" && command !== undefined && command !== "review" ? "command" : outcome

/** Hosts name the events of comments differently. */
const isComment = ({ event = "", reason }: DeliveryState): boolean =>
  reason === "unsupported_action" && /comment|note/i.test(event)

/** Returns the name of the sentence about a delivery that started nothing, of the group `why`. */
export const whyNothing = (delivery: DeliveryState): string | undefined =>
  isComment(delivery) ? "no_command" : delivery.reason
