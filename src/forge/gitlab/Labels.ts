/** Labels of GitLab. The API takes names; a missing label is created when it is used. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { HostLabel } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { projectId, projectPath } from "./Paths.ts"
import { refusals } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"

export const gitlabLabels = (rest: Rest) => {
  const coloured = new Set<string>()

  /** Sets the colour of a label once. */
  const ensure = (repo: Repo, { name, color }: HostLabel) => {
    const key = `${repo.fullName}\n${name}`
    if (color === undefined || coloured.has(key)) return Effect.void
    return rest
      .write(
        {
          method: "POST",
          path: `${projectPath}/labels`,
          params: { id: projectId(repo) },
          body: { name, color: `#${color}` },
          content: false
        },
        Schema.Unknown
      )
      .pipe(
        Effect.catchIf(isRefused(refusals.labelExists), () => Effect.void),
        Effect.tap(() => Effect.sync(() => coloured.add(key)))
      )
  }
  return { ensure }
}
