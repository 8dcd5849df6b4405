/** Checks channels that write to Swarm: their credential, and the server whose changelists they get. */
import type { CrossCheckReports } from "./Check.ts"
import type { TreePosition, Tree } from "./Tree.ts"
import { textAt } from "./Tree.ts"

const isSet = (value: Tree, ...names: ReadonlyArray<string>): boolean =>
  names.some((name) => value[name] !== undefined || value[`${name}_env`] !== undefined)

/** Checks a channel. `triggers` are all of the document. */
export const checkSwarm = (
  { path, value }: TreePosition<Tree>,
  triggers: ReadonlyArray<TreePosition<Tree>>,
  { error, warning }: CrossCheckReports
): void => {
  if (textAt(value, "kind") !== "p4_swarm") return
  if (!isSet(value, "user")) error({ path: [...path, "user"], reason: { _tag: "SwarmUserMissing" }, at: "value" })
  if (!isSet(value, "ticket", "password"))
    error({
      path: [...path, "ticket_env"],
      reason: { _tag: "SwarmTicketMissing" },
      at: "value"
    })
  const servers = triggers.filter(({ value: trigger }) => textAt(trigger, "kind") === "perforce")
  const names = servers.map(({ value: trigger }) => textAt(trigger, "name")).join(", ")
  if (servers.length === 0)
    error({
      path: [...path, "kind"],
      reason: { _tag: "SwarmWithoutTrigger" },
      at: "value"
    })
  // The same number is another changelist on another server.
  else if (value["trigger"] === undefined && new Set(servers.map(({ value: { port } }) => String(port))).size > 1)
    error({
      path: [...path, "trigger"],
      reason: { _tag: "SwarmServerUnclear", triggers: names },
      at: "value"
    })
  for (const field of ["commit_url_template", "revision_url_template"])
    if (value[field] !== undefined)
      warning({
        path: [...path, field],
        reason: { _tag: "LinksMadeBy", kind: "p4_swarm", field: "change_url_template" },
        at: "key"
      })
}
