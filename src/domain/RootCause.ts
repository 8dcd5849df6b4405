/** Groups reasons by what caused them. Pure. */
import type { Reason } from "./Reason.ts"

/** Returns the reason that the others only pass on: the innermost one, of several the first. */
export const rootCause = (reason: Reason): Reason => {
  const { reason: inner, reasons } = reason as { readonly reason?: Reason; readonly reasons?: ReadonlyArray<Reason> }
  const next = inner ?? reasons?.[0]
  return next === undefined ? reason : rootCause(next)
}

/** Length of the beginning that distinguishes reasons in the words of a person or a program. */
const maxWords = 120

/** Returns the name of a group: the tag, with the words of a reason that is not one of the service's own. */
export const causeName = (cause: Reason): string =>
  cause._tag === "Text" ? `Text ${cause.text.slice(0, maxWords)}` : cause._tag
