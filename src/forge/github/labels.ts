/** Labels of GitHub. They go by name; one that is missing is created by naming it. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { HostLabel } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName } from "../Profile.ts"

const repoPath = "/repos/{owner}/{repo}"

export const githubLabels = (rest: (repo: Repo) => Rest) => {
  const coloured = new Set<string>()

  /** Gives a label its colour, once. GitHub responds with 422 for an existing label, which keeps the colour it has. */
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
