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
  if (!isSet(value, "user"))
    error({ path: [...path, "user"], message: "missing; kind p4_swarm needs user or user_env", at: "value" })
  if (!isSet(value, "ticket", "password"))
    error({
      path: [...path, "ticket_env"],
      message: "missing; kind p4_swarm needs ticket_env, ticket, password_env or password",
      at: "value"
    })
  const servers = triggers.filter(({ value: trigger }) => textAt(trigger, "kind") === "perforce")
  const names = servers.map(({ value: trigger }) => textAt(trigger, "name")).join(", ")
  if (servers.length === 0)
    error({
      path: [...path, "kind"],
      message:
        "p4_swarm publishes reviews of changelists, and no trigger is of kind perforce; add one, or remove the channel",
      at: "value"
    })
  // The same number is another changelist on another server.
  else if (value["trigger"] === undefined && new Set(servers.map(({ value: { port } }) => String(port))).size > 1)
    error({
      path: [...path, "trigger"],
      message: `missing; the triggers ${names} are of several servers. Name the one whose changelists this Swarm server reviews`,
      at: "value"
    })
  for (const field of ["commit_url_template", "revision_url_template"])
    if (value[field] !== undefined)
      warning({
        path: [...path, field],
        message: "without effect on kind p4_swarm, whose links are made by change_url_template; set that instead",
        at: "key"
      })
}
