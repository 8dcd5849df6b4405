/** Labels of Gitea and Forgejo. Their APIs take ids; a name is resolved to its id, and created when it is missing. */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { HostLabel } from "../Forge.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName } from "../Profile.ts"
import { Label } from "./Responses.ts"
import { pages } from "./Facts.ts"

const repoPath = "/repos/{owner}/{repo}"
const plainColor = "6b7280"

export const giteaLabels = (rest: Rest) => {
  const idsByRepo = new Map<string, Map<string, number>>()
  /** Reads the labels again after a failure, because one may have been created or deleted. Gitea accepts duplicate names. */
  const forgetOnFailure = <A, R>(write: Effect.Effect<A, ForgeError, R>, repo: Repo) =>
    Effect.tapError(write, () => Effect.sync(() => idsByRepo.delete(repo.fullName)))

  /** Ids of labels by name, read once per repository. */
  const labelIds = Effect.fnUntraced(function* (repo: Repo, labels: ReadonlyArray<HostLabel>) {
    if (labels.length === 0) return []
    const params = ownerAndName(repo)
    const ids =
      idsByRepo.get(repo.fullName) ??
      new Map(
        (yield* rest.pages({ path: `${repoPath}/labels`, params }, Label, pages)).map(({ name, id }) => [
          name.toLowerCase(),
          id
        ])
      )
    idsByRepo.set(repo.fullName, ids)
    const matching: Array<number> = []
    for (const { name, color } of labels) {
      const id = ids.get(name.toLowerCase())
      if (id !== undefined) {
        matching.push(id)
        continue
      }
      const body = { name, color: `#${color ?? plainColor}` }
      const label = yield* rest.write(
        { method: "POST", path: `${repoPath}/labels`, params, body, content: false },
        Label
      )
      ids.set(name.toLowerCase(), label.id)
      matching.push(label.id)
    }
    return matching
  })

  return { labelIds, forgetOnFailure }
}
