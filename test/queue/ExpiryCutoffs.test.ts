import { expect, it } from "vitest"
import { readDocument } from "../../src/config/snapshots/Snapshots.ts"
import { findCutoff, expiryCutoffs, queuedTimeoutHours } from "../../src/queue/ExpiryCutoffs.ts"

const hour = 3_600_000
const now = 1000 * hour
const review = (hours: number) => ({ auto_commit: { queued_timeout_hours: hours } })
const workspace = (name: string, hours?: number) => ({
  source_repo: { trigger: "hub", repo: `team/${name}` },
  ...(hours === undefined ? {} : { review: review(hours) })
})

const snapshotOf = (global: number, defaults: number | undefined) => {
  const { snapshot, issues } = readDocument(
    {
      triggers: [{ name: "hub", kind: "manual" }],
      review: review(global),
      workspaces: {
        defaults: defaults === undefined ? {} : { review: review(defaults) },
        instances: { own: workspace("own", 5), never: workspace("never", 0), plain: workspace("plain") }
      }
    },
    {},
    { baseDir: "/", unset: "warnings" }
  )
  if (snapshot === undefined) throw new Error(JSON.stringify(issues))
  return snapshot
}

it.each([
  { global: 72, defaults: undefined, hours: { own: 5, never: 0, plain: 72, gone: 72 } },
  { global: 72, defaults: 3, hours: { own: 5, never: 0, plain: 3, gone: 72 } },
  { global: 0, defaults: undefined, hours: { own: 5, never: 0, plain: 0, gone: 0 } },
  { global: 0, defaults: 0, hours: { own: 5, never: 0, plain: 0, gone: 0 } }
])("global $global, defaults $defaults", ({ defaults, global, hours }) => {
  const snapshot = snapshotOf(global, defaults)
  const cutoffs = expiryCutoffs(snapshot, now)
  for (const [name, limit] of Object.entries(hours)) {
    expect([name, queuedTimeoutHours(snapshot, name)]).toEqual([name, limit])
    expect([name, findCutoff(cutoffs, name)]).toEqual([name, limit === 0 ? undefined : now - limit * hour])
  }
})
