/** GitHub's lists by which a service finds what changed: a search, and pull requests, branches, commits and statuses of a repository. */
import { listTips, logCommits } from "../../demo/DemoForgeGit.ts"
import { findRepository, page } from "../../demo/DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import { updatedAt } from "../../demo/DemoForgeState.ts"
import type { DemoPull, DemoRepository } from "../../demo/DemoForgeState.ts"

const refusal = (status: number, message: string): ApiAnswer => ({ status, body: { message } })
const pages = { name: "per_page", standard: 30, most: 100 }
const mostResults = 1000

const toSeconds = (time: string): number => Math.floor(Date.parse(time) / 1000)

/** Whether something with this time is listed `since` the time of the request. */
export const isSince = ({ request }: ApiContext, time: string): boolean => {
  const since = request.query.get("since")
  return since === null || toSeconds(time) >= toSeconds(since)
}

/** One page with the only header that the host sends: it returns no totals. */
const linked = <A>(context: ApiContext, items: ReadonlyArray<A>, toJson: (item: A) => unknown): ApiAnswer => {
  const found = page(context, items, pages)
  const { link } = found.headers
  return { status: 200, headers: link === undefined ? {} : { link }, body: found.items.map(toJson) }
}

const latestFirst = (pulls: ReadonlyArray<DemoPull>): ReadonlyArray<DemoPull> =>
  pulls.toSorted((a, b) => (updatedAt(a) < updatedAt(b) ? 1 : -1))

const foundJson = (pull: DemoPull, url: string) => ({
  id: pull.id,
  number: pull.number,
  title: pull.title,
  state: pull.state,
  user: { login: pull.author.login, id: pull.author.id },
  repository_url: `${url}/api/v3/repos/${pull.repository.fullName}`,
  created_at: pull.createdAt,
  updated_at: updatedAt(pull),
  pull_request: { html_url: `${url}/${pull.repository.fullName}/pull/${pull.number}` }
})

const search = (context: ApiContext): ApiAnswer => {
  const words = (context.request.query.get("q") ?? "").split(" ")
  const valueOf = (name: string) => words.find((word) => word.startsWith(`${name}:`))?.slice(name.length + 1)
  const [owner, updated = ">=1970-01-01"] = [valueOf("user")?.toLowerCase(), valueOf("updated")]
  const repositories = [...context.state.repositories.values()].filter(
    (repository) => repository.owner.toLowerCase() === owner
  )
  if (valueOf("is") !== "pr" || repositories.length === 0) return refusal(422, "Validation Failed")
  const found = latestFirst(repositories.flatMap(({ pulls }) => [...pulls.values()])).filter(
    (pull) => toSeconds(updatedAt(pull)) >= toSeconds(updated.slice(2))
  )
  const { query } = context.request
  if (Number(query.get("page") ?? 1) * Number(query.get("per_page") ?? 30) > mostResults)
    return refusal(422, "Only the first 1000 search results are available")
  const { body, headers = {} } = linked(context, found, (pull) => foundJson(pull, context.url))
  return { status: 200, headers, body: { total_count: found.length, incomplete_results: false, items: body } }
}

const repo = "/repos/{owner}/{repo}"

const on =
  (answer: (context: ApiContext, repository: DemoRepository) => ApiAnswer | Promise<ApiAnswer>) =>
  (context: ApiContext): ApiAnswer | Promise<ApiAnswer> => {
    const repository = findRepository(context)
    return repository === undefined ? refusal(404, "Not Found") : answer(context, repository)
  }

export const githubChangeRoutes = (pullJson: (pull: DemoPull, url: string) => unknown): ReadonlyArray<DemoRoute> => [
  { method: "GET", path: "/search/issues", answer: search },
  {
    method: "GET",
    path: `${repo}/pulls`,
    answer: on((context, { pulls }) =>
      linked(context, latestFirst([...pulls.values()]), (pull) => pullJson(pull, context.url))
    )
  },
  {
    method: "GET",
    path: `${repo}/branches`,
    answer: on(async (context, { directory, protectedBranches }) =>
      linked(context, await listTips(directory), ({ id, name }) => ({
        name,
        protected: protectedBranches.has(name),
        commit: { sha: id }
      }))
    )
  },
  {
    method: "GET",
    path: `${repo}/compare/{basehead}`,
    answer: on(async (context, { directory }) => {
      const [before = "", after = ""] = (context.params["basehead"] ?? "").split("...")
      const log = await logCommits(directory, ["--reverse", "--end-of-options", after, `^${before}`])
      if (log === undefined) return refusal(404, "Not Found")
      const commits = page(context, log, pages).items.map(({ email, id, message, name }) => ({
        sha: id,
        author: null,
        commit: { message, author: { name, email } }
      }))
      return { status: 200, body: { total_commits: log.length, commits, files: [] } }
    })
  },
  {
    method: "GET",
    path: `${repo}/commits/{ref}/statuses`,
    answer: on((context, { statuses }) =>
      linked(context, (statuses.get(context.params["ref"] ?? "") ?? []).toReversed(), (status) => ({
        id: status.id,
        context: status.context,
        state: status.state,
        creator: { login: status.user.login, id: status.user.id },
        created_at: status.createdAt
      }))
    )
  }
]
