/** Gitea's lists by which a service finds what changed: issues of an owner since a time, branches, statuses of a commit. And its files. */
import { findRepository, page } from "./DemoForgeDialect.ts"
import type { ApiAnswer, ApiContext, DemoRoute } from "./DemoForgeDialect.ts"
import { listTips, logCommits } from "./DemoForgeGit.ts"
import { issueJson, statusJson } from "./DemoForgeGiteaJson.ts"
import { readText, updatedAt } from "./DemoForgeState.ts"
import type { DemoRepository } from "./DemoForgeState.ts"

const pages = { name: "limit", standard: 30, most: 50 }
const refusal = (status: number, message: string): ApiAnswer => ({ status, body: { message, url: "/api/swagger" } })
const missing = refusal(404, "The target couldn't be found.")

const toSeconds = (time: string): number => Math.floor(Date.parse(time) / 1000)

/** Lists pull requests that were updated since a time, in order of their creation, as the server does. */
export const listChanged = (context: ApiContext, repositories: ReadonlyArray<DemoRepository>): ApiAnswer => {
  const { query } = context.request
  const since = toSeconds(query.get("since") ?? "1970-01-01")
  const state = query.get("state") ?? "open"
  const pulls = repositories
    .flatMap((repository) => [...repository.pulls.values()])
    .filter((pull) => (state === "all" || pull.state === state) && toSeconds(updatedAt(pull)) >= since)
    .toSorted((a, b) => b.id - a.id)
  const { headers, items } = page(context, pulls, pages)
  return { status: 200, headers, body: items.map((pull) => issueJson(pull, context.url)) }
}

/** Returns a file at a commit, as the contents API of each host does. */
export const readContents = async ({ params, request }: ApiContext, repository: DemoRepository) => {
  const path = params["path"] ?? ""
  const text = await readText(repository, request.query.get("ref") ?? "main", path)
  return text === undefined
    ? undefined
    : { status: 200, body: { path, encoding: "base64", content: Buffer.from(text).toString("base64") } }
}

const repo = "/repos/{owner}/{repo}"

const on =
  (answer: (context: ApiContext, repository: DemoRepository) => ApiAnswer | Promise<ApiAnswer>) =>
  (context: ApiContext): ApiAnswer | Promise<ApiAnswer> => {
    const repository = findRepository(context)
    return repository === undefined ? missing : answer(context, repository)
  }

export const changeRoutes: ReadonlyArray<DemoRoute> = [
  {
    method: "GET",
    path: "/repos/issues/search",
    answer: (context) => {
      const owner = context.request.query.get("owner")?.toLowerCase()
      const repositories = [...context.state.repositories.values()].filter(
        (repository) => owner === undefined || repository.owner.toLowerCase() === owner
      )
      return repositories.length === 0 ? refusal(400, "Owner not found") : listChanged(context, repositories)
    }
  },
  {
    method: "GET",
    path: `${repo}/branches`,
    answer: on(async (context, { directory, protectedBranches }) => {
      const { headers, items } = page(context, await listTips(directory), pages)
      const body = items.map(({ id, name }) => ({ name, protected: protectedBranches.has(name), commit: { id } }))
      return { status: 200, headers, body }
    })
  },
  {
    method: "GET",
    path: `${repo}/contents/{...path}`,
    answer: on(async (context, repository) => (await readContents(context, repository)) ?? missing)
  },
  {
    method: "GET",
    path: `${repo}/git/commits/{sha}`,
    answer: on(async (context, { directory }) => {
      const { sha = "" } = context.params
      const [commit] = (await logCommits(directory, ["--max-count=1", "--end-of-options", sha])) ?? []
      if (commit === undefined) return missing
      const { committedAt, email, message, name } = commit
      return {
        status: 200,
        body: { sha, created: committedAt, author: null, commit: { message, author: { name, email } } }
      }
    })
  },
  {
    method: "GET",
    path: `${repo}/statuses/{sha}`,
    answer: on((context, repository) => {
      const { sha = "" } = context.params
      const { headers, items } = page(context, (repository.statuses.get(sha) ?? []).toReversed(), pages)
      return { status: 200, headers, body: items.map((status) => statusJson(status, repository, sha, context.url)) }
    })
  }
]
