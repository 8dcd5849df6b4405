/** Handles requests about projects. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { estimateGroups } from "../../domain/AcceptanceGroups.ts"
import { canonicalCategory } from "../../domain/CanonicalCategory.ts"
import { foldRepo } from "../../domain/Change.ts"
import { Outcomes } from "../../store/Outcomes.ts"
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

/** Returns the key of a repository that is given as TRIGGER:OWNER/NAME. */
const toRepositoryKey = (name: string): string => {
  const at = name.indexOf(":")
  return `${name.slice(0, at + 1)}${foldRepo(name.slice(at + 1))}`
}

interface AcceptanceQuery {
  readonly name: string
  readonly workspace: string
}

const acceptance = Effect.fnUntraced(function* ({ name, workspace }: AcceptanceQuery) {
  const { judged, judgedEverywhere } = yield* Outcomes
  const configured = (yield* ConfigStore).current().workspaces.get(workspace)
  if (configured === undefined) return yield* notFound({ _tag: "WorkspaceUnconfigured", workspace })
  const floor = configured.review.acceptance_floor
  const groups = estimateGroups(yield* judged(toRepositoryKey(name)), yield* judgedEverywhere, floor)
  return { floor, items: groups.map(({ isFolded, ...counts }) => ({ ...counts, folded: isFolded })) }
})

const forget = Effect.fnUntraced(function* (name: string, category: string | undefined) {
  const { forgetJudged, judged } = yield* Outcomes
  const repository = toRepositoryKey(name)
  if (category === undefined) return { forgotten: yield* forgetJudged(repository, undefined) }
  const wanted = canonicalCategory(category)
  const spellings = (yield* judged(repository)).map((one) => one.category)
  const same = [...new Set(spellings)].filter((one) => canonicalCategory(one) === wanted)
  return { forgotten: same.length === 0 ? 0 : yield* forgetJudged(repository, same) }
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
    acceptance: ({ query }) => orUnavailable(acceptance(query)),
    forget: ({ payload }) => orUnavailable(forget(payload.name, payload.category)),
    remove: ({ params }) => orUnavailable(remove(params.id)),
    restore: ({ params }) => orUnavailable(mark(params.id, undefined))
  })
)
