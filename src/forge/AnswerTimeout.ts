/** How long a host or a chat platform may take to answer. A write that took longer may have been done: it is looked up. */
import { Context, Duration } from "effect"

export const AnswerTimeout = Context.Reference<Duration.Duration>("aicr/forge/AnswerTimeout", {
  defaultValue: () => Duration.seconds(30)
})
