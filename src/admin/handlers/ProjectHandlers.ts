/** Handles requests about projects. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listedProjectValue, projectValues, Statistics } from "../../store/Statistics.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { pageSize } from "../api/Parameters.ts"
import { notFound } from "../api/Problems.ts"
import { project } from "../api/ProjectGroup.ts"
import { CurrentUser } from "../api/Rules.ts"
import { orUnavailable } from "./Available.ts"
import { isCount, otherCursor, pageFilter, parseSort, parseValueCursor, toPage } from "./Paging.ts"

const orderOf = (sort: string | undefined) => {
  const { isDescending, key } = parseSort(sort ?? "")
  const by = projectValues.find((name) => name === key)
  return by === undefined ? undefined : { by, smallestFirst: !isDescending }
}

interface Query {
  readonly cursor?: string
  readonly limit?: number
  readonly sort?: string
}

/** Returns the part of the filter that selects a page of projects. */
const projectPageFilter = Effect.fnUntraced(function* (query: Query) {
  const order = orderOf(query.sort)
  if (order === undefined) return pageFilter(query)
  const limit = pageSize(query) + 1
  if (query.cursor === undefined) return { order, limit }
  const from = yield* parseValueCursor(query.cursor)
  if (order.by === "last_run" && !isCount(from.value)) return yield* Effect.fail(otherCursor)
  return { order: { ...order, from }, limit }
})

const mark = Effect.fnUntraced(function* (id: string, by: string | undefined) {
  const found = yield* (yield* Statistics).markProject(id, by, yield* Clock.currentTimeMillis)
  return found === undefined ? yield* notFound({ _tag: "ProjectUnknown" }) : project.view(found)
})

const remove = Effect.fnUntraced(function* (id: string) {
  return yield* mark(id, (yield* CurrentUser).username)
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "projects", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { deleted, repo, workspace } = query
      const filter = { workspace, repo, deleted: deleted === undefined ? undefined : deleted === "true" }
      const order = orderOf(query.sort)
      return projectPageFilter(query).pipe(
        Effect.flatMap((page) => Statistics.use(({ listProjects }) => listProjects({ ...filter, ...page }))),
        Effect.map((found) =>
          toPage(
            found,
            query,
            project.view,
            order === undefined ? undefined : (one) => listedProjectValue(one, order.by)
          )
        ),
        orUnavailable
      )
    },
    remove: ({ params }) => orUnavailable(remove(params.id)),
    restore: ({ params }) => orUnavailable(mark(params.id, undefined))
  })
)
