/** Labels of GitHub. The API takes names; a missing label is created when it is used. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { HostLabel } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName } from "../Profile.ts"

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
        Effect.catchIf(
          (error) => error.reason === "invalid",
          () => Effect.void
        ),
        Effect.tap(() => Effect.sync(() => coloured.add(key)))
      )
  }
  return { ensure }
}
