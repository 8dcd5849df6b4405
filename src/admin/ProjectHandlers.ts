/** Handles requests about projects. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Statistics } from "../store/Statistics.ts"
import type { Project } from "../store/Statistics.ts"
import { AdminHttpApi } from "./api/AdminHttpApi.ts"
import { notFound } from "./api/Problems.ts"
import { CurrentUser } from "./api/Rules.ts"
import { orUnavailable } from "./Available.ts"
import { pageFilter, toPage } from "./Paging.ts"
import { maybeTime, toTime } from "./Views.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

const projectView = (project: Project) =>
  withoutUndefined({
    id: project.id,
    workspace: project.workspace,
    trigger: project.trigger,
    repository: project.repository,
    created_at: toTime(project.createdAt),
    last_run_at: toTime(project.lastRunAt),
    deleted_at: maybeTime(project.deletedAt),
    deleted_by: project.deletedBy
  })

const mark = Effect.fnUntraced(function* (id: string, by: string | undefined) {
  const project = yield* (yield* Statistics).markProject(id, by, yield* Clock.currentTimeMillis)
  return project === undefined ? yield* notFound("No project with this id exists.") : projectView(project)
})

const remove = Effect.fnUntraced(function* (id: string) {
  return yield* mark(id, (yield* CurrentUser).username)
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "projects", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { deleted, repo, workspace } = query
      const filter = { workspace, repo, deleted: deleted === undefined ? undefined : deleted === "true" }
      return Statistics.use(({ listProjects }) => listProjects({ ...filter, ...pageFilter(query) })).pipe(
        Effect.map((found) => toPage(found, query, projectView)),
        orUnavailable
      )
    },
    remove: ({ params }) => orUnavailable(remove(params.id)),
    restore: ({ params }) => orUnavailable(mark(params.id, undefined))
  })
)
