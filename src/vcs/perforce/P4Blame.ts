/** Reads who last changed lines of a file. */
import { Effect } from "effect"
import type { BlameLine, CheckoutError } from "../Checkout.ts"
import type { P4Revision } from "./P4Types.ts"
import { readP4 } from "./P4Process.ts"
import type { P4Session } from "./P4Session.ts"
import { shownText } from "./RawText.ts"

/** The client prints the content of each line as well: a file of one long line costs its size. */
export const readP4Blame = Effect.fnUntraced(function* (
  session: P4Session,
  { spec }: P4Revision,
  start: number,
  end: number
): Effect.fn.Return<ReadonlyArray<BlameLine>, CheckoutError> {
  const lines: Array<BlameLine> = []
  let line = 0
  yield* readP4(
    session,
    { args: ["annotate", "-u", "-c", "-q", spec] },
    {
      record: (record) => {
        const { lower, time, user } = record
        if (lower === undefined) return false
        line++
        if (line >= start && line <= end) {
          // The time is one for people, in the time zone of the server.
          const seconds = Math.floor(Date.parse(`${(time ?? "").replaceAll("/", "-").replace(" ", "T")}Z`) / 1000)
          lines.push({ line, commit: lower, author: shownText(user ?? ""), time: Number.isNaN(seconds) ? 0 : seconds })
        }
        return line >= end
      }
    }
  )
  return lines
})
