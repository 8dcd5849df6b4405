/** Orders lists of runs: by id with any filter, or by a value that has an index, which serves a filter by workspace only. */
import { Effect } from "effect"
import { listedValue, runValues } from "../../store/Runs.ts"
import type { Run } from "../../store/Runs.ts"
import { pageSize } from "../api/Parameters.ts"
import { invalid } from "../api/Problems.ts"
import { isCount, otherCursor, pageFilter, parseSort, parseValueCursor } from "./Paging.ts"

interface Query {
  readonly cursor?: string
  readonly limit?: number
  readonly sort?: string
}

/** Parameters that a list by a value can have. */
const combined: ReadonlySet<string> = new Set(["workspace", "sort", "cursor", "limit"])

const valueNamed = (sort: string | undefined) => {
  const { isDescending, key } = parseSort(sort ?? "")
  const by = runValues.find((name) => name === key)
  return by === undefined ? undefined : { by, smallestFirst: !isDescending }
}

/** Returns the part of the filter that selects a page of runs. */
export const runPageFilter = Effect.fnUntraced(function* (query: Query) {
  const order = valueNamed(query.sort)
  if (order === undefined) return pageFilter(query)
  const other = Object.keys(query).find((name) => !combined.has(name))
  if (other !== undefined) return yield* Effect.fail(invalid("sort", { _tag: "SortExpected", other, by: order.by }))
  const limit = pageSize(query) + 1
  if (query.cursor === undefined) return { order, limit }
  const { id, value } = yield* parseValueCursor(query.cursor)
  if (!isCount(value)) return yield* Effect.fail(otherCursor)
  return { order: { ...order, from: { value: Number(value), id } }, limit }
})

/** Returns what the cursor of a page of runs continues after, in addition to the id. */
export const runCursorValue = ({ sort }: Query): ((run: Run) => number) | undefined => {
  const order = valueNamed(sort)
  return order === undefined ? undefined : (run) => listedValue(run, order.by)
}
