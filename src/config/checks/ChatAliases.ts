/** Checks that aliases of command bindings name repositories that their workspaces review, as requests of reviews do. Pure. */
import { isForgeKind } from "../../domain/Kinds.ts"
import type { Complaint } from "../document/Normalise.ts"
import type { CommandBinding } from "../schema/Im.ts"
import type { Snapshot } from "../Snapshot.ts"
import type { Reason } from "../../domain/Reason.ts"

type Target = NonNullable<CommandBinding["repositories"]>[string]

/** A disabled workspace reviews nothing, and may be another one's double. */
const problemOf = (
  snapshot: Snapshot,
  { repo_ref, source_trigger, workspace: id = "" }: Target
): Reason | undefined => {
  const workspace = snapshot.workspaces.get(id)
  if (workspace === undefined || !workspace.enabled) return undefined
  const { source_repo: source } = workspace.instance
  const [name, repo] = [source_trigger ?? source?.trigger, repo_ref ?? source?.repo]
  if (name === undefined || repo === undefined) return { _tag: "AliasIncomplete", workspace: id }
  const trigger = snapshot.triggers.get(name)
  const { kind } = trigger ?? { kind: "manual" }
  const isServer = isForgeKind(kind) || kind === "subversion" || kind === "perforce"
  const facts = { vcs: kind, repo_ref: repo, any_branch: true }
  return isServer && snapshot.route(name, facts).some((one) => one.id === id)
    ? undefined
    : { _tag: "AliasOutside", workspace: id, repo, trigger: name }
}

export const listAliasProblems = (snapshot: Snapshot): ReadonlyArray<Complaint> =>
  Object.entries(snapshot.document.im.command_bindings).flatMap(([binding, { enabled, repositories = {} }]) =>
    enabled !== true
      ? []
      : Object.entries(repositories).flatMap(([alias, target]): ReadonlyArray<Complaint> => {
          const reason = problemOf(snapshot, target)
          const path = ["im", "command_bindings", binding, "repositories", alias]
          return reason === undefined ? [] : [{ path, reason, at: "key" }]
        })
  )
