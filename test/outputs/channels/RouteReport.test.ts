/** The report of `aicr route test` about channels of Swarm, which get changelists only. */
import { expect, it } from "vitest"
import { routeReport } from "../../../src/outputs/channels/RouteReport.ts"
import { snapshotFrom } from "../FromDocument.ts"
import { makeChannel, makeDocument } from "../swarm/PublishSwarm.ts"

const host = { name: "host", kind: "gitea", base_url: "https://git.example", token: "t", webhook_secret: "s" }
const document = makeDocument(makeChannel({ url: "https://swarm.example", user: "u", ticket: "t" }))
const snapshot = snapshotFrom({ ...document, triggers: [...Object(document["triggers"]), host] })

const report = (trigger: string, kind: "pull_request" | "commit") => {
  const [workspace, profile] = [snapshot.workspaces.get("game"), snapshot.triggers.get(trigger)]
  if (workspace === undefined || profile === undefined) throw new Error("not configured")
  return routeReport(workspace, profile, kind).channels
}

it.each([
  ["depot", "commit", undefined],
  ["host", "pull_request", "kind p4_swarm does not write to gitea (trigger host)"]
] as const)("trigger %s, %s: %s", (trigger, kind, problem) => {
  expect(report(trigger, kind)).toEqual([
    { name: "swarm", kind: "p4_swarm", line_comments: true, summary: true, problem }
  ])
})
