/** Prints the points of a check, as JSON or as a table, and fails if one of them failed. */
import { Effect } from "effect"
import { columns } from "./Columns.ts"
import { ExitWith } from "./Exit.ts"
import { print } from "./Print.ts"

interface CheckedPoint {
  readonly point: string
  /** `ok`, `failed` or `skipped`. */
  readonly state: string
  readonly detail: string
}

/** `subject` and `checks` are the JSON document. */
export const reportPoints = Effect.fnUntraced(function* (
  json: boolean,
  subject: object,
  checks: ReadonlyArray<object>,
  points: ReadonlyArray<CheckedPoint>
) {
  const failed = points.filter(({ state }) => state === "failed").length
  yield* print(
    json
      ? `${JSON.stringify({ ...subject, ok: failed === 0, checks }, undefined, 2)}\n`
      : `${columns(points.map(({ detail, point, state }) => [state, point, detail]))}\n`
  )
  if (failed > 0) return yield* new ExitWith({ code: 2, message: `${failed} of ${points.length} points failed` })
})
