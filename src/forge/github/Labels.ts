/** Labels of GitHub. The API takes names; a missing label is created when it is used. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { HostLabel, LabelChange } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName } from "../http/Profile.ts"
import { refusals } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"

const repoPath = "/repos/{owner}/{repo}"

export const githubLabels = (rest: (repo: Repo) => Rest) => {
  const coloured = new Set<string>()

  /** Sets the colour of a label once. GitHub responds with 422 for an existing label, which keeps its colour. */
  const ensure = (repo: Repo, { name, color }: HostLabel) => {
    const key = `${repo.fullName}\n${name}`
    if (color === undefined || coloured.has(key)) return Effect.void
    return rest(repo)
      .write(
        {
          method: "POST",
          path: `${repoPath}/labels`,
          params: ownerAndName(repo),
          body: { name, color },
          content: false
        },
        Schema.Unknown
      )
      .pipe(
        Effect.catchIf(isRefused(refusals.labelExists), () => Effect.void),
        Effect.tap(() => Effect.sync(() => coloured.add(key)))
      )
  }

  const attach = (repo: Repo, number: number, name: string) =>
    rest(repo).write(
      {
        method: "POST",
        path: `${repoPath}/issues/{issue_number}/labels`,
        params: { ...ownerAndName(repo), issue_number: number },
        body: { labels: [name] },
        content: true
      },
      Schema.Unknown
    )

  /** A label that a person removed in the meantime stays removed. */
  const relabel = Effect.fnUntraced(function* (repo: Repo, number: number, { added, removed }: LabelChange) {
    yield* ensure(repo, added)
    yield* attach(repo, number, added.name)
    for (const name of removed) {
      const params = { ...ownerAndName(repo), issue_number: number, name }
      const path = `${repoPath}/issues/{issue_number}/labels/{name}`
      const call = { method: "DELETE", path, params, content: true } as const
      yield* Effect.catchIf(rest(repo).write(call, Schema.Unknown), isRefused(refusals.labelGone), () => Effect.void)
    }
  })
  return { attach, ensure, relabel }
}
