/** GitLab's lists by which a service finds what changed: merge requests of a group and of a project, branches, commits and statuses. */
import { listTips, logCommits } from "../../demo/DemoForgeGit.ts"
import { page } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import { updatedAt } from "../../demo/DemoForgeState.ts"
import type { DemoPull, DemoRepository } from "../../demo/DemoForgeState.ts"

const notFound: ApiAnswer = { status: 404, body: { message: "404 Not found" } }
const pages = { name: "per_page", standard: 20, most: 100 }
/** Owners that are persons: their namespaces are no groups. */
const people: ReadonlyArray<string> = ["dana", "aicr"]

/** One page with the headers of this host. */
const paged = async <A>(
  context: ApiContext,
  all: ReadonlyArray<A>,
  toJson: (item: A) => unknown
): Promise<ApiAnswer> => {
  const { headers, items } = page(context, all, pages)
  const number = Number(context.request.query.get("page") ?? 1)
  const next = headers["link"] === undefined ? "" : String(number + 1)
  return {
    status: 200,
    headers: { "x-total": String(all.length), "x-next-page": next },
    body: await Promise.all(items.map(toJson))
  }
}

export const gitlabChangeRoutes = (
  mergeJson: (pull: DemoPull, url: string) => unknown,
  projectOf: (context: ApiContext) => DemoRepository | undefined
): ReadonlyArray<DemoRoute> => {
  const on =
    (answer: (context: ApiContext, project: DemoRepository) => ApiAnswer | Promise<ApiAnswer>) =>
    (context: ApiContext): ApiAnswer | Promise<ApiAnswer> => {
      const project = projectOf(context)
      return project === undefined ? notFound : answer(context, project)
    }
  const changed = (context: ApiContext, projects: ReadonlyArray<DemoRepository>) => {
    const after = Date.parse(context.request.query.get("updated_after") ?? "1970-01-01")
    const pulls = projects
      .flatMap((project) => [...project.pulls.values()])
      .filter((pull) => Date.parse(updatedAt(pull)) >= after)
      .toSorted((a, b) => (updatedAt(a) < updatedAt(b) ? 1 : -1))
    return paged(context, pulls, (pull) => mergeJson(pull, context.url))
  }
  return [
    {
      method: "GET",
      path: "/groups/{id}/merge_requests",
      answer: (context) => {
        const { id = "" } = context.params
        const projects = [...context.state.repositories.values()].filter(({ fullName }) =>
          fullName.toLowerCase().startsWith(`${id.toLowerCase()}/`)
        )
        return projects.length === 0 || people.includes(id) ? notFound : changed(context, projects)
      }
    },
    {
      method: "GET",
      path: "/projects/{id}/merge_requests",
      answer: on((context, project) => changed(context, [project]))
    },
    {
      method: "GET",
      path: "/projects/{id}/repository/branches",
      answer: on(async (context, { directory, protectedBranches }) =>
        paged(context, await listTips(directory), ({ id, name }) => ({
          name,
          protected: protectedBranches.has(name),
          commit: { id }
        }))
      )
    },
    {
      method: "GET",
      path: "/projects/{id}/repository/compare",
      answer: on(async ({ request }, { directory }) => {
        const [from, to] = [request.query.get("from") ?? "", request.query.get("to") ?? ""]
        const log = await logCommits(directory, ["--reverse", "--end-of-options", to, `^${from}`])
        if (log === undefined) return notFound
        const commits = log.map(({ email, id, message, name }) => ({
          id,
          author_name: name,
          author_email: email,
          message
        }))
        return { status: 200, body: { commits, diffs: [] } }
      })
    },
    {
      method: "GET",
      path: "/projects/{id}/repository/commits/{sha}/statuses",
      answer: on((context, { statuses }) => {
        const { query } = context.request
        const named = (statuses.get(context.params["sha"] ?? "") ?? []).filter(
          (status) => !query.has("name") || status.context === query.get("name")
        )
        return paged(context, named, ({ context: name, createdAt, id, state, user }) => ({
          id,
          name,
          status: state,
          created_at: createdAt,
          author: { id: user.id, username: user.login, name: user.name }
        }))
      })
    }
  ]
}
